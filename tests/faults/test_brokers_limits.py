"""A broker with a limit of connections by address, to which all clients have kproxy's one."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from kproxy.local_kafka.cluster import Cluster
from tests.support.proxy import Proxy
from tests.support.raw import RawClient, api_versions, metadata
from tests.support.wait import until

LIMIT: Final = 8
MANY: Final = 3
"""As many clients are turned away."""


def test_more_clients_than_the_broker_takes_of_an_address(tmp_path: Path) -> None:
    """It turns them away, and /readyz names it and its limit; those before them are served, and others once they go."""
    settings = {"max.connections.per.ip": LIMIT}
    with Cluster(node_ids=(1,), settings=settings) as cluster, Proxy(tmp_path, {"kafka": cluster.bootstrap}) as proxy:
        with ExitStack() as stack:
            first = stack.enter_context(RawClient(proxy.port()))
            first.ask(api_versions(1))
            assert "warnings" not in proxy.get_json("/readyz")
            comers = (stack.enter_context(RawClient(proxy.port())) for _ in range(LIMIT + MANY))
            turned_away = [client for client in comers if not is_served(client)]
            assert MANY < len(turned_away) < LIMIT + MANY
            said = until(lambda: warned(proxy), "a warning")
            assert (said["state"], said["reasons"]) == ("ready", [])
            (warning,) = said["warnings"]
            told = f"{cluster.bootstrap} ends clients' connections before it answers: max.connections.per.ip counts "
            assert warning["reason"].startswith(told)
            first.ask(metadata(2))
        until(lambda: is_served_now(proxy.port()), "the broker's notice that they have gone")


def warned(proxy: Proxy) -> dict[str, Any] | None:
    """Have one more client come, and return what /readyz says in full, if it warns."""
    is_served_now(proxy.port())
    said: dict[str, Any] = proxy.get_json("/readyz?strict")
    return said if "warnings" in said else None


def is_served_now(port: int) -> bool:
    """Return whether a client that comes now is served."""
    with RawClient(port) as client:
        return is_served(client)


def is_served(client: RawClient) -> bool:
    """Return False for a client that is turned away."""
    try:
        client.ask(api_versions(1))
    except (EOFError, ConnectionError):
        return False
    return True
