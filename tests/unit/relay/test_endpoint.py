"""One socket of a relayed connection: what is sent, what waits, and which events it waits for."""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import Chunk
from kproxy.protocol.fault import Fault
from kproxy.relay.endpoint import JOIN_BELOW, MAX_VECTOR, Endpoint
from kproxy.relay.splice import NoPipeError, PipePool
from tests.unit.relay.sockets import KIB, MIB, RESET, noise, pair, stage

IN, OUT, ERR, HUP = select.EPOLLIN, select.EPOLLOUT, select.EPOLLERR, select.EPOLLHUP


class Bench:
    """Endpoints in one epoll, with small buffers, and their far ends."""

    def __init__(self) -> None:
        self.epoll = select.epoll()
        self.pipes = PipePool()
        self._ends: list[socket.socket] = []

    def endpoint(self, *, is_client: bool = True, buffer: int = 16 * KIB) -> tuple[Endpoint, socket.socket]:
        far, near = pair(receive=buffer, send=buffer)
        self._ends += (far, near)
        return Endpoint(near, is_client, self.epoll, self.pipes), far

    def events(self) -> dict[int, int]:
        return dict(self.epoll.poll(0.05))

    def close(self) -> None:
        for end in self._ends:
            end.close()
        self.pipes.close()
        self.epoll.close()


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.close()


def everything(far: socket.socket, endpoint: Endpoint) -> bytes:
    """Read the far end until everything that waited is out and has arrived."""
    data = bytearray()
    done = False
    while True:
        try:
            data += far.recv(MIB)
        except BlockingIOError:
            if done and not select.select([far], [], [], 0.05)[0]:
                return bytes(data)
        done = not endpoint.blocked or endpoint.flush()


def reset(far: socket.socket) -> None:
    far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    far.close()


def test_what_the_peer_takes_is_sent_at_once(bench: Bench) -> None:
    """Nothing waits, and no event is asked for."""
    endpoint, far = bench.endpoint()
    endpoint.send(b"one")
    endpoint.send(memoryview(b"two"))
    endpoint.send_frame(b"size", [b"three", memoryview(b"four")])
    assert everything(far, endpoint) == b"onetwosizethreefour"
    assert endpoint.sent == 19
    assert not endpoint.blocked
    assert endpoint.pending_bytes == 0


def test_what_it_does_not_take_waits_in_order(bench: Bench) -> None:
    """A copy of the rest is kept, though the buffer is reused, and later chunks queue up behind it."""
    endpoint, far = bench.endpoint()
    data, scratch = noise(MIB), bytearray(MIB)
    scratch[:] = data
    endpoint.send(memoryview(scratch))
    scratch[:] = bytes(MIB)
    assert (endpoint.blocked, endpoint.pending_bytes) == (True, MIB - endpoint.sent)
    assert endpoint.sent < MIB
    endpoint.send(b"second")
    endpoint.send_frame(b"size", [b"third"])
    assert not endpoint.flush()
    assert everything(far, endpoint) == data + b"secondsizethird"
    assert (endpoint.sent, endpoint.blocked, endpoint.pending_bytes) == (MIB + 15, False, 0)


def test_large_frames_go_out_as_a_vector(bench: Bench) -> None:
    """Above JOIN_BELOW chunks are not joined; what does not fit waits in order, also when nothing fits."""
    endpoint, far = bench.endpoint()
    chunks: list[Chunk] = [noise(JOIN_BELOW, 1), memoryview(noise(MIB, 2)), b"end"]
    endpoint.send_frame(b"size", chunks)
    assert endpoint.blocked
    assert everything(far, endpoint) == b"".join((b"size", *chunks))
    full, other = bench.endpoint()
    sent = 0
    try:
        while True:
            sent += full.sock.send(b"0" * 64 * KIB)
    except BlockingIOError:
        pass
    full.send_frame(b"size", chunks)
    assert full.sent == 0
    assert everything(other, full)[sent:] == b"".join((b"size", *chunks))


def test_a_large_frame_that_fits_leaves_nothing(bench: Bench) -> None:
    """One system call sends it all."""
    endpoint, far = bench.endpoint(buffer=4 * MIB)
    chunks = [noise(JOIN_BELOW), b"end"]
    endpoint.send_frame(b"size", chunks)
    assert not endpoint.blocked
    assert everything(far, endpoint) == b"".join((b"size", *chunks))


def test_frames_of_very_many_chunks(bench: Bench) -> None:
    """The kernel takes 1,024 in a vector; more are joined."""
    endpoint, far = bench.endpoint()
    chunks = [noise(100, index) for index in range(3 * MAX_VECTOR)]
    endpoint.send_frame(b"size", chunks)
    assert everything(far, endpoint) == b"".join((b"size", *chunks))


@pytest.mark.parametrize("is_client", [True, False])
async def test_a_peer_that_is_gone(bench: Bench, is_client: bool) -> None:
    """Every way of sending raises a broker's fault, with the kernel's message; a client's connection is told."""
    for way in ("send", "send_frame", "flush", "splice_to", "splice_from", "drain"):
        await _meets(bench, way, is_client)


async def _meets(bench: Bench, way: str, is_client: bool) -> None:
    """Have one way of sending, or of splicing from, meet a reset; a client's, twice."""
    endpoint, far = bench.endpoint(is_client=is_client)
    other, feeding = bench.endpoint(is_client=not is_client, buffer=MIB)
    if way in ("flush", "drain"):
        if way == "flush":
            endpoint.send(noise(MIB))
        else:
            feeding.send(noise(900 * KIB))
            endpoint.splice_from(other, MIB)
        assert endpoint.blocked
    if way == "splice_to":
        feeding.send(noise(KIB))
    reset(far)
    select.select([endpoint.sock], [], [], 5)
    ways: dict[str, Callable[[], object]] = {
        "send": lambda: endpoint.send(b"x"),
        "send_frame": lambda: endpoint.send_frame(b"size", [noise(2 * JOIN_BELOW)]),
        "flush": endpoint.flush,
        "drain": endpoint.flush,
        "splice_to": lambda: endpoint.splice_from(other, MIB),
        "splice_from": lambda: other.splice_from(endpoint, MIB),
    }
    if is_client:
        sent = endpoint.sent
        bench.pipes.give_back(bench.pipes.take())  # the stage wants no new descriptors
        async with stage() as running:
            endpoint.connection = connection = running.relay().connection
            ways[way]()
            assert (connection._both_plain, endpoint.sent) == (False, sent), way
            if way == "splice_to":
                with pytest.raises(NoPipeError):
                    ways[way]()
            else:
                ways[way]()
        assert endpoint.sent == sent
        assert (endpoint.blocked, endpoint.pending_bytes, endpoint._pipe) == (False, 0, None)
        assert bench.events().get(endpoint.fd, 0) & OUT == 0
        said = endpoint.gone
    else:
        with pytest.raises(Fault) as caught:
            ways[way]()
        assert caught.value.reason is Reason.BROKER_RESET, way
        said = caught.value.detail
    assert said in ("Connection reset by peer", "Broken pipe")
    endpoint.release()
    other.release()


def test_what_is_delivered(bench: Bench) -> None:
    """What the peer's kernel has; what waits in this one's, or in the process, is not."""
    endpoint, far = bench.endpoint()
    shown = [(endpoint.blocked, endpoint.delivered)]
    endpoint.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MIB)
    for size in (300 * KIB, 8 * MIB):
        endpoint.send(noise(size))
        shown.append((endpoint.blocked, endpoint.delivered))
    assert shown == [(False, True), (False, False), (True, False)]
    everything(far, endpoint)
    while not endpoint.delivered:
        select.select([far], [], [], 0.01)


def test_splice_from_a_socket_to_one_that_is_slow(bench: Bench) -> None:
    """Bytes wait in the pipe, outside the process; None means that nothing is there now, 0 that it has ended."""
    sink, far_sink = bench.endpoint()
    source, far_source = bench.endpoint(is_client=False, buffer=2 * MIB)
    assert sink.splice_from(source, MIB) is None
    data = noise(900 * KIB)
    far_source.send(data[: 100 * KIB])
    moved = sink.splice_from(source, MIB)
    assert moved is not None
    assert sink.blocked
    assert sink.pending_bytes == 0
    sink.send(b"behind it")
    assert sink.pending_bytes == 9
    assert everything(far_sink, sink) == data[:moved] + b"behind it"
    assert sink.sent == moved + 9
    far_source.close()
    while sink.splice_from(source, MIB):
        everything(far_sink, sink)
    assert sink.splice_from(source, MIB) == 0
    assert not sink.blocked


def test_a_splice_that_was_cut_short_is_not_tried_again_at_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The peer is full: another try nearly always fails, and costs more than waiting for epoll's event."""
    splice, moved = os.splice, []

    def counting(*arguments: Any) -> int:
        moved.append(splice(*arguments))
        return moved[-1]

    monkeypatch.setattr(os, "splice", counting)
    sink, _ = bench.endpoint()
    source, far_source = bench.endpoint(is_client=False, buffer=2 * MIB)
    far_source.send(noise(100 * KIB))
    sink.splice_from(source, MIB)
    filled, drained = moved
    assert sink.blocked
    assert 0 < drained < filled


def test_a_pipe_with_bytes_in_it_is_not_used_again(bench: Bench) -> None:
    """When a connection ends, no other gets its bytes."""
    sink, _ = bench.endpoint()
    source, far_source = bench.endpoint(is_client=False, buffer=2 * MIB)
    far_source.send(noise(100 * KIB))
    sink.splice_from(source, MIB)
    assert sink.blocked
    assert sink.release() is sink.sock
    assert sink.pending_bytes == 0
    assert bench.pipes.take().level == 0


def test_events_are_asked_for_and_no_others(bench: Bench) -> None:
    """Readable is reported while reading, writable while something waits, and neither makes epoll repeat itself."""
    endpoint, far = bench.endpoint()
    assert bench.events() == {}
    far.send(b"x")
    assert bench.events() == {endpoint.fd: IN}
    endpoint.pause()
    assert not endpoint.reading
    endpoint.ignore()
    assert bench.events() == {}
    endpoint.resume()
    assert (endpoint.reading, bench.events()) == (True, {endpoint.fd: IN})
    endpoint.pause()
    endpoint.ignore()
    endpoint.send(noise(MIB))
    while bench.events():
        assert not endpoint.flush()
    everything(far, endpoint)
    assert bench.events() == {}
    endpoint.resume()
    endpoint.resume()
    assert bench.events() == {endpoint.fd: IN}


def test_a_short_pause_costs_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Epoll is not changed for events that it still reports."""
    endpoint, far = bench.endpoint()
    monkeypatch.setattr(endpoint, "_epoll", None)
    endpoint.pause()
    far.send(b"x")
    endpoint.resume()
    assert bench.events() == {endpoint.fd: IN}


def test_a_reset_is_reported_even_while_paused(bench: Bench) -> None:
    """Only until the socket is muted: what it has can be read later."""
    endpoint, far = bench.endpoint()
    endpoint.pause()
    endpoint.ignore()
    reset(far)
    assert bench.events()[endpoint.fd] & (HUP | ERR)
    endpoint.mute()
    assert bench.events() == {}
    endpoint.mute()
    endpoint.resume()
    assert bench.events()[endpoint.fd] & IN


def test_a_released_socket_is_open_and_watched_no_more(bench: Bench) -> None:
    """It belongs to the caller."""
    endpoint, far = bench.endpoint()
    far.send(b"x")
    assert endpoint.release().fileno() == endpoint.fd
    assert bench.events() == {}
