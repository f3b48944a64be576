"""What kproxy shows of clients that authenticate, and what it must not show."""

from __future__ import annotations

import base64
from typing import Any

from tests.support.proxy import Proxy
from tests.support.secured import PASSWORD, Secured
from tests.support.violation import never
from tests.support.wait import until

WRONG = "incorrect-horse-battery-staple"
SECRETS = {"the password": PASSWORD, "the wrong password": WRONG}


def connections(proxy: Proxy, client_id: str) -> list[dict[str, Any]]:
    """Return a client's connections, as the API shows them."""
    found = proxy.get_json("/api/v1/connections?limit=1000")["connections"]
    return [connection for connection in found if connection["client_id"] == client_id]


def ended(proxy: Proxy, client_id: str) -> list[dict[str, Any]]:
    """Return the log lines of a client's connections that have ended."""
    return proxy.logged(event="connection ended", client_id=client_id)


def check_secrets(text: str) -> None:
    """Assert that a text holds no password, no message with one and no token, in any form that is sent or printed."""
    for name, secret in SECRETS.items():
        never(secret in text, f"{name} is shown as it is")
        never(secret.encode().hex() in text, f"{name} is shown in hexadecimal")
        for before in ("", ".", ".."):  # base64 at each byte offset; the ends depend on the neighbours
            coded = base64.b64encode((before + secret).encode()).decode()[4:-4]
            never(coded in text, f"{name} is shown in base64, behind {len(before)} bytes")
    never("eyJ" in text, "what every JWT begins with is shown")


def check_no_secret_is_shown(proxy: Proxy) -> None:
    """Assert that no page of the admin port holds a secret."""
    paths = ["/metrics", "/readyz", "/api/v1/clusters", "/api/v1/connections", "/api/v1/clients"]
    for path in (*paths, "/api/v1/clusters/secured/events"):
        check_secrets(proxy.get(path)[1].decode())


def check_principal(proxy: Proxy, broker: Secured, client_id: str, principal: str) -> None:
    """Assert that kproxy shows this principal for the client's live connections, and that the broker uses the same."""
    until(
        lambda: any(one["principal"] == principal for one in connections(proxy, client_id)),
        f"{client_id} is {principal}",
    )
    # None: the connection has not authenticated yet
    assert {one["principal"] for one in connections(proxy, client_id)} <= {principal, None}
    assert until(lambda: broker.principals(client_id), f"requests of {client_id} at the broker") == {principal}
    clients = proxy.get_json("/api/v1/clients?cluster=secured&limit=1000")["clients"]
    assert principal in {one["principal"] for one in clients if one["client_id"] == client_id}
    check_no_secret_is_shown(proxy)
