"""Admitting clients at a port that names share: whom a name leads to, and what becomes of all others."""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from kproxy.config.tls import UpstreamTls
from kproxy.observe.reasons import Reason
from kproxy.relay import peek
from kproxy.relay.client_hello import UNRECOGNIZED_NAME
from kproxy.relay.entrance import Way
from kproxy.upstream.tls import BrokerContext, ServerContext
from tests.support.authority import Authority
from tests.unit.relay.hellos import large, openssl_hello, records
from tests.unit.relay.sockets import RESET, Backend, Peer, eventually, pair, request
from tests.unit.relay.test_acceptor import Listener, closed, open_acceptor
from tests.unit.relay.test_acceptor_tls import Far, shown

ORDERS, BILLS = "b7.orders.example.com", "b7.bills.example.com"
HELLO = openssl_hello(ORDERS)


@dataclass(frozen=True)
class Shown:
    """What two virtual clusters show; `bills` wants certificates of clients."""

    orders: ServerContext
    bills: ServerContext
    client: BrokerContext
    certified: BrokerContext


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    authority = Authority(tmp_path_factory.mktemp("sni"))
    orders, bills, client = (
        authority.signed("orders", "DNS:*.orders.example.com"),
        authority.signed("bills", "DNS:*.bills.example.com"),
        authority.signed("client"),
    )
    return Shown(
        shown(orders),
        shown(bills, client_ca=str(authority.file)),
        BrokerContext(UpstreamTls(ca=str(authority.file)), "upstream_tls"),
        BrokerContext(
            UpstreamTls(ca=str(authority.file), certificate=str(client.chain), key=str(client.key)), "upstream_tls"
        ),
    )


@dataclass
class Entrance:
    """A shared port, where `ways` are known; clients that name none are `home`'s."""

    opened: Listener
    bills: Backend
    ways: dict[str, Way] = field(default_factory=dict)

    @property
    def home(self) -> Backend:
        return self.opened.backend

    def way(self, name: str) -> Way | None:
        return self.ways.get(name)

    def come(self) -> Peer:
        """Connect a client."""
        return self.opened.come(entrance=self)

    async def waits(self) -> None:
        """Wait until kproxy waits for more of the one client."""
        await eventually(lambda: len(self.opened.pump.silent) == 1, "kproxy waits")

    async def ended(self, reason: Reason, of: Backend | None = None) -> None:
        """Wait for the end of the one client; it is counted for one virtual cluster, and for that alone."""
        backend = of or self.home
        other = self.bills if backend is self.home else self.home
        await eventually(lambda: backend.ended == {reason: 1}, f"the end of a client: {reason}")
        assert (backend.counters.connections_opened, other.counters.connections_opened) == (1, 0)
        assert self.opened.broker.nobody_came()


@asynccontextmanager
async def shared_port(tls: Shown, **options: Any) -> AsyncIterator[Entrance]:
    """Two virtual clusters at one port, both in front of the same broker."""
    async with open_acceptor(**options) as opened:
        made = Entrance(opened, Backend(opened.broker.address))
        opened.backend.tls, made.bills.tls = tls.orders, tls.bills
        made.ways = {ORDERS: Way(opened.backend, 7), BILLS: Way(made.bills, 7)}
        yield made
        await eventually(lambda: made.bills.counters.connections_active == 0, "no connection is left")


async def shaken(peer: Peer, context: BrokerContext, name: str) -> Far:
    """Shake hands as a client that asks for a name, and checks the certificate for it."""
    far = Far(context.wrap(peer.sock, name))
    try:
        await far.shake()
    except OSError:
        far.sock.close()
        raise
    return far


async def test_a_name_leads_to_its_virtual_cluster(tls: Shown) -> None:
    """The client is shown that one's certificate, and reaches the node whose name it asked for."""
    async with shared_port(tls) as port:
        for name, context, of in ((ORDERS, tls.client, port.home), (BILLS, tls.certified, port.bills)):
            client = await shaken(port.come(), context, name)
            await client.send(request(1))
            broker = await port.opened.broker.accept()
            assert await broker.receive(len(request(1))) == request(1)
            assert (of.asked, of.counters.connections_active) == ([7], 1)
            client.sock.close()


async def test_what_one_virtual_cluster_asks_of_clients_holds_for_its_names(tls: Shown) -> None:
    """A client without a certificate is refused where one is wanted, though the port's other cluster wants none."""
    async with shared_port(tls) as port:
        client = await shaken(
            port.come(), tls.client, BILLS
        )  # of TLS 1.3: it learns of the refusal with its first read
        with pytest.raises(ssl.SSLError, match="certificate required"):
            await client.some()
        await port.ended(Reason.TLS_FAILED, port.bills)
        client.sock.close()


@pytest.mark.parametrize(
    "data", [HELLO, records(HELLO[5:], (1, 30, 200)), records(large(9000, ORDERS.encode()), (8000,))]
)
async def test_a_hello_that_comes_in_parts(tls: Shown, data: bytes) -> None:
    """Segments and records are put together, and left to OpenSSL: it answers (an alert to what is no real hello)."""
    async with shared_port(tls) as port:
        client, step = port.come(), 1 + len(data) // 9
        for at in range(0, len(data), step):
            await port.waits()
            assert port.home.counters.connections_opened == 0
            await client.send(data[at : at + step])
        assert await client.receive(1) in (b"\x16", b"\x15")
        assert port.home.counters.connections_opened == 1
        await client.close()


@pytest.mark.parametrize(
    ("hello", "detail"),
    [
        (
            openssl_hello("nobody.example.com"),
            "the client asks for 'nobody.example.com', which nobody has here: see adv",
        ),
        (openssl_hello(None), "the client names no server (SNI): it must connect by name"),
        (
            records(large(100, b"\x1b[31m\n")),
            "the client asks for '\\x1b[31m\\n', which nobody has here: see advertised",
        ),
    ],
)
async def test_a_name_that_leads_nowhere(tls: Shown, hello: bytes, detail: str) -> None:
    """The client gets the alert; nobody is dialled. The first virtual cluster counts it, and the log has the name."""
    with capture_logs() as log:
        async with shared_port(tls) as port:
            client = port.come()
            await client.send(hello)
            assert await closed(client) == UNRECOGNIZED_NAME
            await port.ended(Reason.UNKNOWN_SERVER_NAME)
    (line,) = log
    assert (line["event"], line["reason"]) == ("connection ended", "unknown_server_name")
    assert line["detail"].startswith(detail)


async def test_openssl_understands_the_alert(tls: Shown) -> None:
    """A user sees in the client's log what is wrong."""
    async with shared_port(tls) as port:
        with pytest.raises(ssl.SSLError, match="it knows no such server name"):
            await shaken(port.come(), tls.client, "nobody.example.com")
        await port.ended(Reason.UNKNOWN_SERVER_NAME)


@pytest.mark.parametrize(("node_id", "reason"), [(9, Reason.UNKNOWN_SERVER_NAME), (None, Reason.DRAINED)])
async def test_a_name_by_which_nobody_listens_now(tls: Shown, node_id: int | None, reason: Reason) -> None:
    """A node that is not there, or a bootstrap name while kproxy drains: refused as a port is, without an alert."""
    async with shared_port(tls) as port:
        port.ways[BILLS] = Way(port.bills, node_id, is_open=False)
        client = port.come()
        await client.send(openssl_hello(BILLS))
        assert await closed(client) == b""
        await port.ended(reason, port.bills)


async def test_a_retired_name(tls: Shown) -> None:
    """Its clients get what a retired listener's get."""
    async with shared_port(tls) as port:
        port.ways[ORDERS] = Way(port.home, 7, retired=True)
        client, hello = await shaken(port.come(), tls.client, ORDERS), request(1, b"\xff\xff", key=18, version=0)
        await client.send(hello)
        broker = await port.opened.broker.accept()
        assert await broker.receive(len(hello)) == hello
        (connection,) = port.opened.pump.connections.values()
        assert (connection.context.retired, connection.context.node_id) == (True, 7)
        client.sock.close()


async def test_a_virtual_cluster_that_is_full(tls: Shown) -> None:
    """Its own limit holds for its names alone: clients that have named none take no place of it."""
    async with shared_port(tls) as port:
        port.home.max_connections, port.bills.max_connections = 0, 0
        silent, client = port.come(), port.come()
        await client.send(openssl_hello(BILLS))
        await closed(client)
        await port.ended(Reason.CLUSTER_LIMIT, port.bills)
        await silent.close()
        await eventually(lambda: port.home.ended == {Reason.CLIENT_CLOSED: 1}, "the silent one")


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (request(1), Reason.PLAINTEXT_ON_TLS),
        (b"GET / HTTP/1.1\r\n\r\n", Reason.HTTP_ON_KAFKA_PORT),
        (b"\x16\x03\x01\x00\x04oops", Reason.TLS_FAILED),
    ],
)
async def test_what_is_no_hello(tls: Shown, first: bytes, reason: Reason) -> None:
    """It is refused by its own reason, at the port's first virtual cluster."""
    async with shared_port(tls) as port:
        client = port.come()
        await client.send(first)
        await closed(client)
        await port.ended(reason)


@pytest.mark.parametrize("how", ["fin", "reset"])
async def test_a_client_that_leaves_in_its_hello(tls: Shown, how: str) -> None:
    """Bytes that nobody takes do not hide the end behind them."""
    async with shared_port(tls) as port:
        client = port.come()
        await client.send(HELLO[:100])
        await port.waits()
        if how == "reset":
            client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        await client.close()
        await port.ended(Reason.TLS_FAILED)


async def test_a_hello_that_stops_costs_nothing(tls: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until its deadline kproxy does not look again, though there are bytes to read."""
    looks = []
    look = peek.peek

    def counted(client: socket.socket, most: int = peek.SNIFFED_BYTES) -> bytes | None:
        looks.append(most)
        return look(client, most)

    monkeypatch.setattr(peek, "peek", counted)
    async with shared_port(tls, tls_handshake=0.3) as port:
        client = port.come()
        await client.send(HELLO[:100])
        await closed(client)
        await port.ended(Reason.TLS_TIMEOUT)
    assert len(looks) < 6


async def test_a_drain_ends_a_client_in_its_hello(tls: Shown) -> None:
    """As one that has sent nothing: it has asked nothing yet."""
    async with shared_port(tls) as port:
        client = port.come()
        await client.send(HELLO[:100])
        await port.waits()
        port.opened.acceptor.drain()
        await closed(client)
        await port.ended(Reason.DRAINED)


async def test_a_kernel_short_of_memory() -> None:
    """It may report bytes that have not come: kproxy waits a little, and looks again."""
    far, near = pair()
    looks = 0

    async def readable() -> None:
        nonlocal looks
        looks += 1
        if looks == 2:
            far.send(b"cd")

    with trio.fail_after(80):
        far.send(b"ab")
        assert await peek.peek_whole(near, 4, readable) == b"abcd"
    assert looks == 2
    far.close()
    near.close()


async def test_the_socket_is_as_before() -> None:
    """The pump's epoll must report every byte later."""
    far, near = pair()
    far.send(b"ab")
    assert await peek.peek_whole(near, 2, partial(trio.lowlevel.wait_readable, near)) == b"ab"
    far.send(b"c")
    assert await peek.peek_whole(near, 3, partial(trio.lowlevel.wait_readable, near)) == b"abc"
    assert near.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT) == 1
    far.close()
    near.close()
