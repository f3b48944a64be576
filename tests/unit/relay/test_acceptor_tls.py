"""Admitting clients that speak TLS, and dialling brokers that do: who gets through, who does not, and what is left."""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import trio

from kproxy.config import Limits
from kproxy.config.tls import ClientTls, UpstreamTls
from kproxy.observe.reasons import Reason
from kproxy.protocol.network import Networks
from kproxy.upstream.tls import BrokerContext, ServerContext, shake_hands
from tests.support.authority import Authority, Certificate
from tests.support.bounds import Bounds
from tests.unit.relay import frames
from tests.unit.relay.hellos import openssl_hello
from tests.unit.relay.sockets import HOST, KIB, MIB, RESET, eventually, noise, request, response
from tests.unit.relay.test_acceptor import HEADER, Listener, closed, open_acceptor


@dataclass(frozen=True)
class Ends:
    """What each of the four ends shows and trusts; `strict` wants certificates of clients."""

    to_clients: ServerContext
    strict: ServerContext
    client: BrokerContext
    broker: ServerContext
    to_broker: BrokerContext
    stranger: BrokerContext


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Ends:
    directory = tmp_path_factory.mktemp("tls")
    authority, other = Authority(directory), Authority(directory, "other")
    kproxy, kafka = authority.signed("kproxy"), authority.signed("kafka")
    return Ends(
        shown(kproxy),
        shown(kproxy, client_ca=str(authority.file)),
        trusting(authority),
        shown(kafka),
        trusting(authority),
        trusting(other),
    )


def shown(certificate: Certificate, **settings: Any) -> ServerContext:
    """Return the context of a server."""
    own = {"certificate": str(certificate.chain), "key": str(certificate.key)}
    return ServerContext(ClientTls.model_validate(own | settings), "tls")


def trusting(authority: Authority) -> BrokerContext:
    """Return a context that trusts an authority."""
    return BrokerContext(UpstreamTls(ca=str(authority.file)), "upstream_tls")


class Far:
    """The far end of a connection that speaks TLS: a client, or a broker."""

    def __init__(self, sock: ssl.SSLSocket) -> None:
        self.sock = sock

    @classmethod
    async def client(cls, opened: Listener, ends: Ends) -> Far:
        """Connect, and shake hands."""
        made = cls(ends.client.wrap(opened.come().sock, "localhost"))
        await made.shake()
        return made

    @classmethod
    async def broker(cls, opened: Listener, ends: Ends) -> Far:
        """Accept kproxy's connection, and shake hands."""
        peer = await opened.broker.accept()
        made = cls(ends.broker.wrap(peer.sock))
        try:
            await made.shake()
        except OSError:
            made.sock.close()
            raise
        return made

    async def shake(self) -> None:
        await shake_hands(self.sock, partial(trio.lowlevel.wait_readable, self.sock))

    async def send(self, data: bytes) -> None:
        while data:
            try:
                data = data[self.sock.send(data) :]
            except ssl.SSLWantWriteError:
                await trio.lowlevel.wait_writable(self.sock)

    async def some(self) -> bytes:
        """Return what arrives next; nothing at the end."""
        while True:
            try:
                return self.sock.recv(MIB)
            except ssl.SSLWantReadError:
                await trio.lowlevel.wait_readable(self.sock)

    async def receive(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = await self.some()
            assert part, f"closed after {len(data)} of {size} bytes"
            data += part
        return bytes(data)

    def reset(self) -> None:
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.sock.close()


@asynccontextmanager
async def tls_acceptor(ends: Ends, *sides: str, **options: Any) -> AsyncIterator[Listener]:
    """An acceptor whose clients or brokers, or both, speak TLS."""
    async with open_acceptor(**options) as opened:
        opened.backend.tls = ends.to_clients if "clients" in sides else None
        opened.backend.upstream_tls = ends.to_broker if "brokers" in sides else None
        yield opened


async def test_a_client_is_admitted_and_relayed(ends: Ends) -> None:
    """TLS on both sides: requests and responses arrive as they were sent, large ones too, and none is spliced."""
    asked, answered = frames.produce(9, 1, records=noise(MIB)), frames.produced(9, 1)
    async with tls_acceptor(ends, "clients", "brokers") as opened:
        client = await Far.client(opened, ends)
        await client.send(request(1))
        broker = await Far.broker(opened, ends)
        assert await broker.receive(len(request(1))) == request(1)
        await broker.send(response(1, noise(3 * MIB)))
        large = response(1, noise(3 * MIB))
        assert await client.receive(len(large)) == large
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.send, asked)
            assert await broker.receive(len(asked)) == asked
        await broker.send(answered)
        assert await client.receive(len(answered)) == answered
        assert opened.backend.counters.spliced_bytes == 0
        (connection,) = opened.pump.connections.values()
        assert connection.received == len(request(1) + asked)
        assert connection.client.sent == len(large + answered)
        client.sock.close()
        broker.sock.close()


@pytest.mark.parametrize("side", ["clients", "brokers"])
async def test_one_side_alone(ends: Ends, side: str) -> None:
    """TLS on one side and plaintext on the other: megabytes go both ways, and none is spliced."""
    asked, answered = frames.produce(9, 1, records=noise(MIB)), response(2, noise(2 * MIB))
    async with tls_acceptor(ends, side) as opened:
        client = await Far.client(opened, ends) if side == "clients" else opened.come()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.send, asked)
            broker = await Far.broker(opened, ends) if side == "brokers" else await opened.broker.accept()
            assert await broker.receive(len(asked)) == asked
        await broker.send(frames.produced(9, 1))
        await client.receive(len(frames.produced(9, 1)))
        await client.send(request(2))
        await broker.receive(len(request(2)))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(broker.send, answered)
            assert await client.receive(len(answered)) == answered
        assert opened.backend.counters.spliced_bytes == 0
        for end in (client, broker):
            if isinstance(end, Far):
                end.sock.close()


async def test_a_request_that_comes_with_the_handshake(ends: Ends) -> None:
    """The client's last message and its first request may arrive in one piece, which no read may lose."""
    async with tls_acceptor(ends, "clients") as opened:
        client = await Far.client(opened, ends)
        await client.send(request(1))
        broker = await opened.broker.accept()
        assert await broker.receive(len(request(1))) == request(1)
        client.sock.close()


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (request(1), Reason.PLAINTEXT_ON_TLS),
        (b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n", Reason.HTTP_ON_KAFKA_PORT),
        (b"\x16\x04", Reason.PLAINTEXT_ON_TLS),
        (b"\x16\x03\x01\x00\x04oops", Reason.TLS_FAILED),
    ],
    ids=["kafka", "http", "nearly tls", "bad hello"],
)
async def test_what_is_no_tls_dials_nobody(ends: Ends, first: bytes, reason: Reason) -> None:
    """Each is refused under its own name, and counted as a protocol error."""
    async with tls_acceptor(ends, "clients") as opened:
        client = opened.come()
        await client.send(first)
        await closed(client)
        await opened.ended(reason)
        assert opened.broker.nobody_came()
        assert opened.backend.counters.protocol_errors == {reason: 1}


@pytest.mark.parametrize("cut", [0, 7, len(HEADER)])
async def test_a_balancers_header_comes_before_the_hello(ends: Ends, cut: int) -> None:
    """It is taken from the wire, to its last byte, and TLS begins behind it; the address is the client's own."""
    async with tls_acceptor(ends, "clients") as opened:
        opened.backend.balancers = Networks([f"{HOST}/32"])
        peer = opened.come()
        if cut:
            await peer.send(HEADER[:cut])
            await eventually(lambda: len(opened.pump.silent) == 1, "it waits for more")
        peer.sock.sendall(HEADER[cut:])  # the hello follows at once
        client = Far(ends.client.wrap(peer.sock, "localhost"))
        await client.shake()
        await client.send(request(1))
        broker = await opened.broker.accept()
        assert await broker.receive(len(request(1))) == request(1)
        (connection,) = opened.pump.connections.values()
        assert connection.context.client == "192.0.2.9:1234"
        client.sock.close()


@pytest.mark.parametrize(
    ("balancers", "reason"), [([f"{HOST}/32"], Reason.PROXY_HEADER), ([], Reason.UNEXPECTED_PROXY_HEADER)]
)
async def test_headers_and_tls_that_do_not_go_together(ends: Ends, balancers: list[str], reason: Reason) -> None:
    """A hello where a header is due, and a header where a hello is: nobody is dialled, and it is a protocol error."""
    async with tls_acceptor(ends, "clients") as opened:
        opened.backend.balancers = Networks(balancers)
        client = opened.come()
        await client.send(b"\x16\x03\x01\x02\0\1" if balancers else HEADER)
        await closed(client)
        await opened.ended(reason)
        assert opened.broker.nobody_came()
        assert opened.backend.counters.protocol_errors == {reason: 1}


async def test_a_tls_client_on_a_plaintext_port(ends: Ends) -> None:
    """A real hello is recognized; the client's handshake ends."""
    async with open_acceptor() as opened:
        far = Far(ends.client.wrap(opened.come().sock, "localhost"))
        with pytest.raises(OSError, match="TLS failed"):
            await far.shake()
        far.sock.close()
        await opened.ended(Reason.TLS_ON_PLAINTEXT)


async def test_a_client_that_does_not_trust_kproxy(ends: Ends) -> None:
    """It ends the handshake, and the record says why; no broker is dialled."""
    async with tls_acceptor(ends, "clients") as opened:
        far = Far(ends.stranger.wrap(opened.come().sock, "localhost"))
        with pytest.raises(OSError, match="its authority is not trusted"):
            await far.shake()
        far.sock.close()
        await opened.ended(Reason.TLS_FAILED)
        assert opened.broker.nobody_came()


async def test_a_client_without_the_certificate_that_it_needs(ends: Ends) -> None:
    """It is refused, and reads TLS's own alert, not just an end."""
    async with tls_acceptor(ends, "clients") as opened:
        opened.backend.tls = ends.strict
        client = await Far.client(opened, ends)
        with pytest.raises(ssl.SSLError, match=r"(?i)certificate required"):
            await client.some()
        client.sock.close()
        await opened.ended(Reason.TLS_FAILED)
        assert opened.broker.nobody_came()


async def test_a_refused_client_that_goes_on_sending(ends: Ends) -> None:
    """It finds no reset, and then the alert: of TLS 1.3, a client sends its first request before it can be refused."""
    async with tls_acceptor(ends, "clients") as opened:
        opened.backend.tls = ends.strict
        client = await Far.client(opened, ends)
        await client.send(request(1))  # before kproxy reads the end of the handshake: no task has run since
        await opened.ended(Reason.TLS_FAILED)
        await client.send(request(2))
        with pytest.raises(ssl.SSLError, match=r"(?i)certificate required"):
            await client.some()
        client.sock.close()
        await eventually(lambda: not opened.pump.lingering, "kproxy closes its socket")


async def test_refused_clients_that_do_not_go(ends: Ends) -> None:
    """They keep no more descriptors than handshakes may; further ones are closed at once."""
    async with tls_acceptor(ends, "clients", limits=Limits(max_handshakes=2)) as opened:
        opened.backend.tls = ends.strict
        clients = [await Far.client(opened, ends) for _ in range(5)]
        await opened.ended(*[Reason.TLS_FAILED] * 5)
        assert len(opened.pump.lingering) <= 2
        assert len(opened.acceptor.quotas) == 0
        for client in clients:
            client.sock.close()


async def test_a_client_that_stops_in_the_handshake(ends: Ends, bounds: Bounds) -> None:
    """It gets `timeouts.tls_handshake`, from its first bytes on; also one that goes on byte by byte for ever."""
    async with tls_acceptor(ends, "clients", tls_handshake=0.3) as opened:
        await opened.come().send(b"\x16\x03\x01")
        await opened.ended(Reason.TLS_TIMEOUT)
        slow = opened.come()
        await slow.send(b"\x16\x03\x01\x20\x00")
        began = trio.current_time()
        with suppress(trio.BrokenResourceError):
            while len(opened.backend.ended) == 1 and opened.backend.ended[Reason.TLS_TIMEOUT] == 1:
                await slow.send(b"\x01")
                await trio.sleep(0.02)
        took = trio.current_time() - began
        assert took > 0.2
        bounds.below(took, 5, "seconds until a slow hello is ended")
        await opened.ended(Reason.TLS_TIMEOUT, Reason.TLS_TIMEOUT)
        assert opened.broker.nobody_came()


async def test_half_a_hello_takes_no_place(ends: Ends) -> None:
    """Only who has said all of it: the others' handshakes go on beside any number of those that stop before."""
    async with tls_acceptor(ends, "clients", limits=Limits(max_handshakes=2)) as opened:
        for _ in range(5):
            await opened.come().send(openssl_hello("localhost")[:-1])
        await eventually(lambda: len(opened.acceptor._silent) == 5, "they wait")
        assert (opened.acceptor.handshakes.active, opened.acceptor.handshakes.waiting) == (0, 0)
        with trio.fail_after(8):
            client = await Far.client(opened, ends)
        client.sock.close()


async def test_a_client_that_lets_others_wait(ends: Ends) -> None:
    """A hello and nothing more keeps a place for a second, where another client wants it; then that one is served."""
    async with tls_acceptor(ends, "clients", limits=Limits(max_handshakes=2)) as opened:
        half = opened.come()
        await half.send(openssl_hello("localhost"))
        await eventually(lambda: opened.acceptor.handshakes.active == 1, "it has a place")
        with trio.fail_after(20):
            client = await Far.client(opened, ends)
        await opened.ended(Reason.HANDSHAKE_LIMIT)
        await eventually(lambda: opened.acceptor.handshakes.seconds.total > 0.5, "its wait counts")
        client.sock.close()


async def test_who_gets_no_turn_in_time(ends: Ends) -> None:
    """It is told apart from a client that is slow itself: a limit of kproxy's is too low for what comes."""
    async with tls_acceptor(
        ends, "clients", limits=Limits(max_handshakes=1, handshakes_per_second=1), tls_handshake=0.5
    ) as opened:
        first = opened.come()
        await first.send(openssl_hello("localhost"))
        await eventually(lambda: opened.acceptor.handshakes.active == 1, "it has the place")
        await opened.come().send(openssl_hello("localhost"))
        await opened.ended(Reason.TLS_TIMEOUT, Reason.HANDSHAKE_LIMIT)


async def test_a_client_that_stops_after_the_handshake(ends: Ends) -> None:
    """Without a request no broker is dialled, as with a plaintext client."""
    async with tls_acceptor(ends, "clients", tls_handshake=1) as opened:
        client = await Far.client(opened, ends)
        await opened.ended(Reason.TLS_TIMEOUT)
        assert opened.broker.nobody_came()
        client.sock.close()


async def test_a_client_that_goes(ends: Ends) -> None:
    """Before its first bytes, in the handshake, and after it: by a FIN or a reset; no broker is dialled."""
    async with tls_acceptor(ends, "clients") as opened:
        await opened.come().close()
        await opened.ended(Reason.CLIENT_CLOSED)
        half = opened.come()
        await half.send(b"\x16\x03\x01")
        await eventually(lambda: len(opened.acceptor._silent) == 1, "the handshake")
        await half.close()
        await opened.ended(Reason.CLIENT_CLOSED, Reason.TLS_FAILED)
        for _ in range(2):
            gone = opened.come()
            await gone.send(b"\x16\x03\x01")
            await eventually(lambda: len(opened.acceptor._silent) == 1, "the handshake")
            await gone.reset()
            await eventually(lambda: not opened.acceptor.waiting, "its end")
        await opened.ended(Reason.CLIENT_CLOSED, *[Reason.TLS_FAILED] * 3)
        assert opened.broker.nobody_came()


@pytest.mark.parametrize("way", ["fin", "close_notify", "reset"])
async def test_a_health_check_that_shakes_hands_dials_nobody(ends: Ends, way: str) -> None:
    """A load balancer that checks TLS goes after the handshake, and costs the brokers nothing."""
    async with tls_acceptor(ends, "clients") as opened:
        client = await Far.client(opened, ends)
        await trio.lowlevel.wait_readable(client.sock)  # session tickets: kproxy has the client's last message
        await eventually(lambda: len(opened.acceptor._silent) == 1, "waiting for a request")
        if way == "reset":
            client.reset()
        elif way == "fin":
            client.sock.shutdown(socket.SHUT_WR)
        else:
            with suppress(ssl.SSLError):
                client.sock.unwrap()
            client.sock.close()
        await opened.ended(Reason.CLIENT_RESET if way == "reset" else Reason.CLIENT_CLOSED)
        assert opened.broker.nobody_came()
        assert opened.backend.dials == []
        client.sock.close()


async def test_a_client_that_is_gone_before_its_handshake_begins(ends: Ends) -> None:
    """A reset behind the hello is the client's own doing, not an internal error."""
    async with tls_acceptor(ends, "clients") as opened:
        client = opened.come()

        class Late:
            """Wraps a socket whose client has gone in the meantime."""

            def wrap(self, near: socket.socket) -> ssl.SSLSocket:
                client.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                client.stream.socket.close()
                return ends.to_clients.wrap(near)

        opened.backend.tls = Late()  # type: ignore[assignment]
        await client.send(openssl_hello("localhost"))
        await eventually(lambda: bool(opened.backend.ended), "its end")
        assert opened.backend.ended.keys() <= {Reason.TLS_FAILED, Reason.CLIENT_RESET}


async def test_a_drain_ends_clients_that_are_not_done(ends: Ends) -> None:
    """Those in the handshake, and those that have not asked yet; nobody waits for `timeouts.tls_handshake`."""
    async with tls_acceptor(ends, "clients") as opened:
        half = opened.come()
        await half.send(b"\x16\x03\x01")
        silent = await Far.client(opened, ends)
        await eventually(lambda: len(opened.acceptor._silent) == 2, "both wait")
        opened.acceptor.drain()
        with trio.fail_after(8):
            await opened.acceptor.wait_empty()
        assert await closed(half) == b""
        await opened.ended(Reason.DRAINED, Reason.DRAINED)
        assert opened.broker.nobody_came()
        silent.sock.close()


async def test_a_drain_while_a_client_takes_its_turn(ends: Ends) -> None:
    """A client that has said something just before the drain, but has not asked, is ended at its next wait."""
    async with tls_acceptor(ends, "clients") as opened:

        class Draining:
            """Begins a drain between the hello and the answer."""

            def wrap(self, near: socket.socket) -> ssl.SSLSocket:
                opened.acceptor.drain()
                return ends.to_clients.wrap(near)

        opened.backend.tls = Draining()  # type: ignore[assignment]
        await opened.come().send(openssl_hello("localhost"))
        with trio.fail_after(8):
            await opened.ended(Reason.DRAINED)


@pytest.mark.parametrize("steady", [True, False])
async def test_a_drain_sees_what_has_just_arrived(ends: Ends, steady: bool) -> None:
    """Requests that lie in the socket are answered, though each is a record of its own."""
    async with tls_acceptor(ends, "clients") as opened:
        client = await Far.client(opened, ends)
        await client.send(request(1))
        broker = await opened.broker.accept()
        await broker.receive(len(request(1)))
        await broker.send(response(1))
        await client.receive(len(response(1)))
        asked = [request(number, noise(500, number)) for number in range(2, 12)]
        for each in asked:
            client.sock.send(each)
        (connection,) = opened.pump.connections.values()
        if not steady:
            connection.unsteady()
        opened.pump.drain()
        assert await broker.receive(len(b"".join(asked))) == b"".join(asked)
        answers = b"".join(map(response, range(2, 12)))
        await broker.send(answers)
        assert await client.receive(len(answers)) == answers
        await opened.ended(Reason.DRAINED)
        client.sock.close()


async def test_the_end_is_a_close_notify_and_a_fin(ends: Ends) -> None:
    """A client can tell the end of its connection from one that was cut; kproxy does not wait for the client's own."""
    async with tls_acceptor(ends, "clients") as opened:
        client = await Far.client(opened, ends)
        await client.send(request(1))
        broker = await opened.broker.accept()
        await broker.receive(len(request(1)))
        await broker.send(response(1, noise(100 * KIB)))
        await broker.close()
        answer = response(1, noise(100 * KIB))
        assert await client.receive(len(answer)) == answer
        assert await client.some() == b""  # raises for an end without close_notify
        await trio.lowlevel.wait_readable(client.sock)
        assert socket.socket.recv(client.sock, 100) == b""
        await opened.ended(Reason.BROKER_CLOSED)
        client.sock.close()
        await eventually(lambda: not opened.pump.lingering, "the socket's end")


@pytest.mark.parametrize("answer", [b"\0\0\0\x08plaintxt", b""])
async def test_a_broker_without_tls(ends: Ends, answer: bytes) -> None:
    """The client is closed, and the detail says that the broker speaks no TLS; nothing stays open."""
    async with tls_acceptor(ends, "brokers") as opened:
        client = opened.come(7)
        await client.send(request(1))
        broker = await opened.broker.accept()
        await trio.lowlevel.wait_readable(broker.sock)
        if answer:
            await broker.send(answer)
        else:
            await broker.receive(1)
            broker.half_close()
        assert await closed(client) == b""
        await opened.ended(Reason.UPSTREAM_TLS_FAILED)
        ((node_id, _, failure, error),) = opened.backend.dials
        assert (node_id, failure) == (7, Reason.UPSTREAM_TLS_FAILED)
        assert error.startswith("TLS failed: the peer ")
        assert "speak TLS" in error
        turned_away = set() if answer else {f"127.0.0.1:{opened.broker.address[1]}"}
        assert opened.backend.counters.turned_away.brokers == turned_away


async def test_a_broker_with_a_wrong_certificate(ends: Ends) -> None:
    """The next address is tried; when none is right, the client is closed, and each dial has its reason."""
    async with tls_acceptor(ends, "brokers") as opened:
        opened.backend.upstream_tls = ends.stranger
        opened.backend.servers = (opened.broker.address, opened.broker.address)
        client = opened.come()
        await client.send(request(1))
        for _ in range(2):
            with pytest.raises(OSError, match="does not trust the authority"):
                await Far.broker(opened, ends)
        assert await closed(client) == b""
        await opened.ended(Reason.UPSTREAM_TLS_FAILED)
        assert [failure for _, _, failure, _ in opened.backend.dials] == [Reason.UPSTREAM_TLS_FAILED] * 2
        assert "its authority is not trusted" in opened.backend.dials[0][3]


async def test_a_broker_that_does_not_shake_hands(ends: Ends) -> None:
    """It gets `timeouts.connect` for the connection and the handshake together."""
    async with tls_acceptor(ends, "brokers", connect=0.3) as opened:
        client = opened.come()
        await client.send(request(1))
        broker = await opened.broker.accept()
        assert await closed(client) == b""
        await opened.ended(Reason.CONNECT_TIMEOUT)
        await closed(broker)


async def test_cancellation_in_every_wait(ends: Ends) -> None:
    """In the client's handshake, after it, and in the broker's: all sockets are closed, as ended by the shutdown."""
    async with tls_acceptor(ends, "clients", "brokers") as opened:
        await opened.come().send(b"\x16\x03\x01")
        silent, asking = await Far.client(opened, ends), await Far.client(opened, ends)
        await asking.send(request(1))
        broker = await opened.broker.accept()
        await trio.lowlevel.wait_readable(broker.sock)
        await eventually(lambda: opened.acceptor.waiting == 3 and len(opened.acceptor._silent) == 2, "all wait")
        opened.nursery.cancel_scope.cancel()
        silent.sock.close()
        asking.sock.close()
        await trio.lowlevel.checkpoint_if_cancelled()
    assert opened.backend.ended == {Reason.SHUTDOWN: 3}
