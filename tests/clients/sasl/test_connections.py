"""The limit of a principal's connections, at a real broker."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.support import raw
from tests.support.proxy import Proxy
from tests.support.secured import PASSWORD, Secured
from tests.support.wait import until

HANDSHAKE, AUTHENTICATE = 17, 36


def authenticated(proxy: Proxy, user: str) -> raw.RawClient:
    """A connection that the broker has accepted as this user's."""
    client = raw.RawClient(proxy.port(), timeout=20)
    said = f"\0{user}\0{PASSWORD}".encode()
    try:
        client.ask(raw.request(HANDSHAKE, 1, 1, raw.string("PLAIN")))
        answer = client.ask(raw.request(AUTHENTICATE, 0, 2, struct.pack(">i", len(said)) + said))
        assert answer[:2] == b"\0\0"
    except BaseException:
        client.close()
        raise
    return client


def test_one_too_many_ends(broker: Secured, tmp_path: Path) -> None:
    """Two of Alice's stay, a third is closed, and the log says why; Bob has his own; a free place is used again."""
    with Proxy(tmp_path, {"secured": broker.bootstrap}, each={"max_connections_per_principal": 2}) as proxy:
        first, second = authenticated(proxy, "alice"), authenticated(proxy, "alice")
        with pytest.raises((EOFError, ConnectionError)):
            authenticated(proxy, "alice")
        line = until(lambda: proxy.logged(event="connection ended", reason="principal_limit"), "its line")[0]
        assert (line["principal"], line["level"]) == ("User:alice", "warning")
        assert "User:alice has 2 connections, the most (max_connections_per_principal)" in line["detail"]
        with authenticated(proxy, "bob") as other:
            for client in (first, second, other):
                client.ask(raw.api_versions(3))
        first.close()
        until(lambda: proxy.metric("kproxy_connections_active") == 1, "one is left")
        authenticated(proxy, "alice").close()
        second.close()
        assert proxy.metric("kproxy_connections_closed_total", reason="principal_limit") == 1
