"""What kproxy shows of clients that authenticate, and what it must not show."""

from __future__ import annotations

import base64
from typing import Any

from tests.support.proxy import Proxy
from tests.support.secured import PASSWORD, Secured
from tests.support.wait import until

WRONG = "incorrect-horse-battery-staple"
SECRETS = (PASSWORD, WRONG)


def connections(proxy: Proxy, client_id: str) -> list[dict[str, Any]]:
    """The connections of a client, as the API shows them."""
    found = proxy.get_json("/api/v1/connections?limit=1000")["connections"]
    return [connection for connection in found if connection["client_id"] == client_id]


def ended(proxy: Proxy, client_id: str) -> list[dict[str, Any]]:
    """The lines of a client's connections that have ended."""
    return proxy.logged(event="connection ended", client_id=client_id)


def check_secrets(text: str) -> None:
    """No password, no message that has one, no token, in any form in which it is sent or might be printed."""
    for secret in SECRETS:
        assert secret not in text
        assert secret.encode().hex() not in text
        for before in ("", ".", ".."):  # base64 of what begins at any byte; the ends depend on the neighbours
            assert base64.b64encode((before + secret).encode()).decode()[4:-4] not in text
    assert "eyJ" not in text, "what every JWT begins with"


def check_no_secret_is_shown(proxy: Proxy) -> None:
    """Nothing that the admin port says has one in it."""
    paths = ["/metrics", "/readyz", "/api/v1/clusters", "/api/v1/connections", "/api/v1/clients"]
    for path in (*paths, "/api/v1/clusters/secured/events"):
        check_secrets(proxy.get(path)[1].decode())


def check_principal(proxy: Proxy, broker: Secured, client_id: str, principal: str) -> None:
    """kproxy shows a principal for the client's live connections, and it is the one that the broker acts on."""
    until(
        lambda: any(one["principal"] == principal for one in connections(proxy, client_id)),
        f"{client_id} is {principal}",
    )
    # None: has not authenticated yet
    assert {one["principal"] for one in connections(proxy, client_id)} <= {principal, None}
    assert until(lambda: broker.principals(client_id), f"requests of {client_id} at the broker") == {principal}
    clients = proxy.get_json("/api/v1/clients?cluster=secured&limit=1000")["clients"]
    assert principal in {one["principal"] for one in clients if one["client_id"] == client_id}
    check_no_secret_is_shown(proxy)
