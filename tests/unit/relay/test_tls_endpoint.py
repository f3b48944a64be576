"""An endpoint that speaks TLS: whole records are read, nothing stays behind, and what is sent arrives byte by byte."""

from __future__ import annotations

import _ssl
import ctypes
import fcntl
import random
import select
import socket
import ssl
import sys
import termios
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from kproxy.config.tls import ClientTls, UpstreamTls
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import Chunk
from kproxy.relay.splice import PipePool
from kproxy.relay.tls_endpoint import RECORD_BYTES, TlsEndpoint
from kproxy.upstream import record_reads
from kproxy.upstream.tls import BrokerContext, ServerContext
from tests.support.authority import Authority
from tests.unit.relay.sockets import KIB, MIB, RESET, noise, pair, stage

SCRATCH = 256 * KIB


@dataclass(frozen=True)
class Contexts:
    """What the two ends show and trust."""

    server: ServerContext
    broker: BrokerContext


@pytest.fixture(scope="module")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> Contexts:
    authority = Authority(tmp_path_factory.mktemp("tls"))
    certificate = authority.signed("kproxy")
    tls = ClientTls(certificate=str(certificate.chain), key=str(certificate.key))
    return Contexts(ServerContext(tls, "tls"), BrokerContext(UpstreamTls(ca=str(authority.file)), "upstream_tls"))


class Bench:
    """TLS endpoints in one epoll, each with its far end, which speaks TLS too."""

    def __init__(self, contexts: Contexts, version: ssl.TLSVersion) -> None:
        self.epoll = select.epoll()
        self.pipes = PipePool()
        self._contexts = contexts
        self._version = version
        self._ends: list[socket.socket] = []

    def endpoint(self, *, is_client: bool = True, buffer: int | None = None) -> tuple[TlsEndpoint, ssl.SSLSocket]:
        """Return an endpoint and its far end after their handshake."""
        raw_far, raw_near = pair(receive=buffer, send=buffer)
        server, broker = self._contexts.server, self._contexts.broker
        server._context.maximum_version = self._version
        far, near = (
            (broker.wrap(raw_far, "localhost"), server.wrap(raw_near))
            if is_client
            else (server.wrap(raw_far), broker.wrap(raw_near, "localhost"))
        )
        self._ends += (far, near)
        shake(far, near)
        return TlsEndpoint(near, is_client, self.epoll, self.pipes), far

    def close(self) -> None:
        for end in self._ends:
            end.close()
        self.pipes.close()
        self.epoll.close()


def shake(*ends: ssl.SSLSocket) -> None:
    """Shake hands on both sides."""
    waiting = list(ends)
    for _ in range(20):
        for end in waiting[:]:
            try:
                end.do_handshake()
                waiting.remove(end)
            except ssl.SSLWantReadError:
                pass
        if not waiting:
            return
        select.select(waiting, [], [], 0.5)
    raise AssertionError("no handshake")


@pytest.fixture(params=[ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["1.2", "1.3"])
def bench(contexts: Contexts, request: pytest.FixtureRequest) -> Iterator[Bench]:
    made = Bench(contexts, request.param)
    yield made
    made.close()


def arrived(sock: socket.socket) -> None:
    """Wait until there is something to read."""
    assert select.select([sock], [], [], 5)[0], "nothing arrived"


def into(endpoint: TlsEndpoint, size: int = SCRATCH) -> bytes:
    """Read as the pump does, into its buffer."""
    buffer = memoryview(bytearray(size))
    count = endpoint.receive_into(buffer)
    return bytes(buffer[:count])


def read_until(read: Callable[[], bytes], endpoint: TlsEndpoint, size: int) -> bytes:
    """Read whenever epoll would report it, until so many bytes are there; nothing ever stays behind in OpenSSL."""
    data = bytearray()
    while len(data) < size:
        arrived(endpoint.sock)
        try:
            data += read()
        except BlockingIOError:
            continue
        assert endpoint._tls.pending() == 0
    return bytes(data)


def test_a_whole_record_is_read_though_less_was_asked_for(bench: Bench) -> None:
    """What stayed behind in OpenSSL epoll would not report."""
    endpoint, far = bench.endpoint()
    data = noise(RECORD_BYTES)
    far.send(data)
    assert read_until(lambda: endpoint.receive(1), endpoint, len(data)) == data
    far.send(b"short")
    arrived(endpoint.sock)
    assert endpoint.receive(1) == b"short"
    with pytest.raises(BlockingIOError):
        endpoint.receive(1)


def test_a_read_takes_several_records(bench: Bench) -> None:
    """As many as there are, as far as the buffer has room for a whole one."""
    endpoint, far = bench.endpoint()
    data = noise(5 * RECORD_BYTES + 100)
    far.send(data)
    whole = 5 * (RECORD_BYTES + 22)  # on the wire
    far_is_in(endpoint, whole)
    assert into(endpoint, 3 * RECORD_BYTES + 1) == data[: 3 * RECORD_BYTES]
    assert endpoint._tls.pending() == 0
    assert into(endpoint) == data[3 * RECORD_BYTES :]
    with pytest.raises(BlockingIOError):
        into(endpoint)


def far_is_in(endpoint: TlsEndpoint, size: int) -> None:
    """Wait until the kernel has so many bytes of the wire."""
    for _ in range(500):
        if len(socket.socket.recv(endpoint.sock, MIB, socket.MSG_PEEK)) >= size:
            return
        select.select([], [], [], 0.01)
    raise AssertionError("not all arrived")


def test_small_records_are_one_read(bench: Bench) -> None:
    """As librdkafka sends a Produce request: a record for each piece. What fits into the buffer is read at once."""
    endpoint, far = bench.endpoint()
    far.send(b"one")
    far.send(b"two")
    far_is_in(endpoint, 50)
    assert into(endpoint) == b"onetwo"
    assert endpoint._tls.pending() == 0
    with pytest.raises(BlockingIOError):
        into(endpoint)


def test_nothing_to_read(bench: Bench) -> None:
    """Both ways of reading raise what a plain socket raises."""
    endpoint, _ = bench.endpoint()
    with pytest.raises(BlockingIOError):
        endpoint.receive(100)
    with pytest.raises(BlockingIOError):
        into(endpoint)


def test_half_a_record(bench: Bench) -> None:
    """It is nothing to read, and no end."""
    endpoint, far = bench.endpoint()
    with socket.socket(fileno=far.detach()) as raw:
        raw.send(b"\x17\x03\x03\x00")
        arrived(endpoint.sock)
        with pytest.raises(BlockingIOError):
            endpoint.receive(100)
        with pytest.raises(BlockingIOError):
            into(endpoint)


def test_the_end_by_close_notify_and_by_a_bare_fin(bench: Bench) -> None:
    """Both are the end, as an empty read; what came before is read first."""
    for way in ("close_notify", "fin"):
        for read in ("receive", "receive_into"):
            endpoint, far = bench.endpoint()
            far.send(b"last")
            if way == "close_notify":
                with pytest.raises(ssl.SSLWantReadError):
                    far.unwrap()
            else:
                far.shutdown(socket.SHUT_WR)
            data = []
            for _ in range(10):
                arrived(endpoint.sock)
                try:
                    data.append(endpoint.receive(100) if read == "receive" else into(endpoint))
                except BlockingIOError:
                    continue
                if not data[-1]:
                    break
            assert data == [b"last", b""]


def test_an_end_right_behind_a_full_record(bench: Bench) -> None:
    """It is found by the read that has the record, and reported by the next one; a reset stays a reset."""
    for reset in (False, True):
        endpoint, far = bench.endpoint()
        far.send(noise(RECORD_BYTES))
        far_is_in(endpoint, RECORD_BYTES)
        if reset:
            far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            far.close()
        else:
            far.shutdown(socket.SHUT_WR)
        ended(endpoint)
        assert into(endpoint) == noise(RECORD_BYTES)
        arrived(endpoint.sock)
        if reset:
            with pytest.raises(ConnectionResetError):
                into(endpoint)
        else:
            assert into(endpoint) == endpoint.receive(1) == b""


def test_what_comes_before_an_end_of_any_kind(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read returns it, and the next one the end: a close_notify before a reset, a reset as newer Pythons tell it."""
    endpoint, far = bench.endpoint()
    far.send(noise(KIB))
    with pytest.raises(ssl.SSLWantReadError):
        far.unwrap()
    far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    far.close()
    ended(endpoint)
    assert into(endpoint) == noise(KIB)
    assert into(endpoint) == b""
    endpoint, far = bench.endpoint()
    far.send(noise(KIB))
    arrived(endpoint.sock)
    found: list[bytes | OSError] = [noise(KIB), ConnectionResetError("reset")]

    def recv_into(_: ssl.SSLSocket, buffer: memoryview) -> int:
        one = found.pop(0)
        if isinstance(one, OSError):
            raise one
        buffer[: len(one)] = one
        return len(one)

    monkeypatch.setattr(ssl.SSLSocket, "recv_into", recv_into)
    assert into(endpoint) == noise(KIB)
    ended(endpoint)
    with pytest.raises(ConnectionResetError):
        into(endpoint)


def ended(endpoint: TlsEndpoint) -> None:
    """Wait until the kernel knows that the peer has ended its side."""
    for _ in range(500):
        if endpoint._epoll.poll(0.01) and endpoint._epoll.poll(0)[0][1] & (select.EPOLLRDHUP | select.EPOLLHUP):
            return
    raise AssertionError("no end")


def test_after_the_clients_close_notify_it_can_still_be_sent_to(bench: Bench) -> None:
    """A client that ends its side still gets its answers."""
    endpoint, far = bench.endpoint()
    with pytest.raises(ssl.SSLWantReadError):
        far.unwrap()
    arrived(endpoint.sock)
    assert into(endpoint) == b""
    endpoint.send(b"answer")
    assert (endpoint.blocked, endpoint.sent) == (False, 6)


@pytest.mark.parametrize(("is_client", "reason"), [(True, Reason.CLIENT_RESET), (False, Reason.BROKER_RESET)])
@pytest.mark.parametrize("before", [0, RECORD_BYTES], ids=["at once", "after a full record"])
def test_garbage_is_a_fault(bench: Bench, is_client: bool, reason: Reason, before: int) -> None:
    """It has the reason that OpenSSL names, for both ways of reading, and whatever arrived before it."""
    for read in ("receive", "receive_into"):
        endpoint, far = bench.endpoint(is_client=is_client)
        far.send(noise(before)) if before else None
        with socket.socket(fileno=far.detach()) as raw:
            raw.send(b"garbage " * 10)
            far_is_in(endpoint, before + 80)
            if before:
                assert len(endpoint.receive(100) if read == "receive" else into(endpoint)) == before
            with pytest.raises(OSError, match="wrong version number") as caught:
                _ = endpoint.receive(100) if read == "receive" else into(endpoint)
            fault = endpoint.broken(caught.value)
        assert (fault.reason, fault.detail) == (reason, "WRONG_VERSION_NUMBER")


def test_a_broken_record_is_a_fault(bench: Bench) -> None:
    """Bytes that were changed on the way are not taken for the end."""
    endpoint, far = bench.endpoint()
    with socket.socket(fileno=far.detach()) as raw:
        raw.send(b"\x17\x03\x03\x00\x40" + bytes(64))
        arrived(endpoint.sock)
        with pytest.raises(ssl.SSLError) as caught:
            endpoint.receive(100)
    assert endpoint.broken(caught.value).detail == "DECRYPTION_FAILED_OR_BAD_RECORD_MAC"


def test_a_fatal_alert_is_a_fault(contexts: Contexts, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A broker that wants a certificate says so after kproxy's handshake is done (TLS 1.3): that is the detail."""
    directory = tmp_path_factory.mktemp("strict")
    authority = Authority(directory)
    certificate = authority.signed("kafka")
    tls = ClientTls(certificate=str(certificate.chain), key=str(certificate.key), client_ca=str(authority.file))
    trust = BrokerContext(UpstreamTls(ca=str(authority.file)), "upstream_tls")
    far, near = pair()
    server, broker = ServerContext(tls, "tls").wrap(far), trust.wrap(near, "localhost")
    with pytest.raises(ssl.SSLError, match="peer did not return a certificate"):
        shake(broker, server)
    bench = Bench(contexts, ssl.TLSVersion.TLSv1_3)
    endpoint = TlsEndpoint(broker, False, bench.epoll, bench.pipes)
    arrived(broker)
    with pytest.raises(ssl.SSLError) as caught:
        into(endpoint)
    fault = endpoint.broken(caught.value)
    assert fault.reason == Reason.BROKER_RESET
    assert fault.detail == "the peer says: it asks for a certificate; give kproxy one (`certificate`, `key`)"
    for end in (server, broker):
        end.close()
    bench.close()


async def test_a_reset_is_a_fault(bench: Bench) -> None:
    """It has the kernel's words."""
    endpoint, far = bench.endpoint()
    far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    far.close()
    arrived(endpoint.sock)
    with pytest.raises(OSError, match="reset") as caught:
        into(endpoint)
    fault = endpoint.broken(caught.value)
    assert (fault.reason, fault.detail) == (Reason.CLIENT_RESET, "Connection reset by peer")
    async with stage() as running:
        endpoint.connection = running.relay().connection
        for _ in range(2):
            endpoint.send(b"to nobody")
    assert (bool(endpoint.gone), endpoint.sent) == (True, 0)


async def test_what_came_before_a_reset_is_read_after_a_send_has_met_it(bench: Bench) -> None:
    """OpenSSL reads on although it could not write."""
    endpoint, far = bench.endpoint()
    far.send(b"before")
    far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    far.close()
    arrived(endpoint.sock)
    async with stage() as running:
        endpoint.connection = running.relay().connection
        endpoint.send(b"to nobody")
    assert endpoint.gone
    assert endpoint.receive(100) == b"before"


def take(far: ssl.SSLSocket, endpoint: TlsEndpoint) -> bytes:
    """Read the far end until everything that waited is out and has arrived."""
    data = bytearray()
    done = False
    while True:
        try:
            data += far.recv(MIB)
        except ssl.SSLWantReadError:
            if done and not select.select([far], [], [], 0.05)[0]:
                return bytes(data)
            done = not endpoint.blocked or endpoint.flush()


def test_what_the_peer_does_not_take_waits_in_order(bench: Bench) -> None:
    """A copy of the rest is kept, though the buffer is reused, and later chunks and frames queue up behind it."""
    endpoint, far = bench.endpoint(buffer=16 * KIB)
    data, scratch = noise(MIB), bytearray(MIB)
    scratch[:] = data
    endpoint.send(memoryview(scratch))
    scratch[:] = bytes(MIB)
    assert endpoint.blocked
    assert endpoint.pending_bytes == MIB - endpoint.sent > 0
    endpoint.send(b"second")
    endpoint.send_frame(b"size", [b"third", memoryview(b"fourth")])
    assert not endpoint.flush()
    assert take(far, endpoint) == data + b"secondsizethirdfourth"
    assert (endpoint.sent, endpoint.blocked, endpoint.pending_bytes) == (MIB + 21, False, 0)


def test_an_empty_chunk_sends_nothing(bench: Bench) -> None:
    """OpenSSL would make a record of it, or an error; also when it has to wait behind others."""
    endpoint, far = bench.endpoint(buffer=16 * KIB)
    assert take(far, endpoint) == b""  # what TLS sends of its own behind the handshake is read
    endpoint.send(b"")
    assert not select.select([far], [], [], 0.05)[0], "a record, though an empty one"
    assert not endpoint.blocked
    endpoint.send(noise(MIB))
    endpoint.send(b"")
    endpoint.send(b"end")
    assert take(far, endpoint) == noise(MIB) + b"end"
    assert not endpoint.blocked


def test_a_frame_is_few_records(bench: Bench) -> None:
    """Many small chunks become one record, not one each."""
    endpoint, far = bench.endpoint()
    chunks: list[Chunk] = [b"abc"] * 100
    endpoint.send_frame(b"size", chunks)
    arrived(far)
    assert far.recv(MIB) == b"size" + b"abc" * 100


@pytest.mark.parametrize("seed", range(4))
def test_megabytes_both_ways(bench: Bench, seed: int) -> None:
    """Chunks of any size cross in both directions, through small buffers, and each byte is in its place."""
    dice = random.Random(seed)
    endpoint, far = bench.endpoint(is_client=bool(seed % 2), buffer=dice.choice((8 * KIB, 64 * KIB)))
    out, back = noise(2 * MIB, seed), noise(2 * MIB, seed + 100)
    sent = returned = 0
    got, heard = bytearray(), bytearray()
    chunk = b""
    sizes = (1, 3, 700, 5000, RECORD_BYTES - 1, RECORD_BYTES, RECORD_BYTES + 1, 70_000, 300 * KIB)
    while len(got) < len(out) or len(heard) < len(back):
        select.select([endpoint.sock, far], [], [], 0.01)
        if endpoint.blocked:
            endpoint.flush()
        while sent < len(out) and endpoint.pending_bytes < 500_000 and dice.random() < 0.8:
            piece = memoryview(out)[sent : sent + dice.choice(sizes)]
            if dice.random() < 0.5:
                endpoint.send(piece)
            else:
                endpoint.send_frame(bytes(piece[:4]), [piece[4:9], piece[9:]])
            sent += len(piece)
        if returned < len(back):
            chunk = chunk or back[returned : returned + dice.choice(sizes)]  # OpenSSL wants the same one again
            try:
                count = far.send(chunk)
                returned, chunk = returned + count, chunk[count:]
            except ssl.SSLWantWriteError:
                pass
        if dice.random() < 0.7:
            try:
                got += far.recv(dice.choice((100, 5000, MIB)))
            except ssl.SSLWantReadError:
                pass
        try:
            heard += endpoint.receive(dice.choice((1, 4096))) if dice.random() < 0.5 else into(endpoint)
        except BlockingIOError:
            pass
        assert endpoint._tls.pending() == 0
    assert bytes(got) == out
    assert bytes(heard) == back
    assert (endpoint.sent, endpoint.pending_bytes) == (len(out), 0)
    assert not endpoint.blocked or endpoint.flush()


def test_no_more_records_than_a_turn_takes(bench: Bench) -> None:
    """Each may have one byte, and costs as much as a full one; nothing stays behind where epoll does not see it."""
    endpoint, far = bench.endpoint()
    far.setblocking(True)
    for _ in range(1000):
        far.send(b"x")
    arrived(endpoint.sock)
    scratch, got, reads = memoryview(bytearray(SCRATCH)), 0, 0
    while got < 1000:
        arrived(endpoint.sock)
        count = endpoint.receive_into(scratch)
        assert 0 < count <= 64
        got, reads = got + count, reads + 1
    assert reads >= 1000 // 64


def test_key_updates_are_taken_one_by_one(contexts: Contexts) -> None:
    """RFC 8446 lets a peer send as many as it likes: OpenSSL would go on to the next one within the same read."""
    made = Bench(contexts, ssl.TLSVersion.TLSv1_3)
    try:
        endpoint, far = made.endpoint()
        far.setblocking(True)
        for _ in range(50):
            update_keys(far)
        far.send(b"behind them")
        arrived(endpoint.sock)
        reads = 0
        with pytest.raises(BlockingIOError):
            endpoint.receive(0)
        waiting = bytearray(4)
        fcntl.ioctl(endpoint.sock, termios.FIONREAD, waiting)
        assert int.from_bytes(waiting, sys.byteorder) > 0, "it took them all"
        data = b""
        while not data:
            try:
                data = endpoint.receive(0)
            except BlockingIOError:
                reads += 1
        assert (data, reads) == (b"behind them", 49)
    finally:
        made.close()


def update_keys(sock: ssl.SSLSocket) -> None:
    """Send a KeyUpdate, for which the module ssl has no function."""
    library = ctypes.CDLL(_ssl.__file__)
    connection = ctypes.c_void_p.from_address(id(sock._sslobj) + record_reads._SSL_AT)  # type: ignore[attr-defined]
    assert library.SSL_key_update(connection, 0) == 1
    assert library.SSL_do_handshake(connection) == 1
