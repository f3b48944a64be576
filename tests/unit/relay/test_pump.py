"""The pump: many connections in one task; no connection affects another, or Trio."""

from __future__ import annotations

import itertools
import os
import resource
import socket
import struct
import time
from contextlib import suppress
from statistics import median
from typing import NoReturn

import pytest
import trio

from kproxy.config import Limits, Timeouts
from kproxy.observe.reasons import Reason
from kproxy.protocol.context import Context
from kproxy.rebootstrap.actions import Action
from kproxy.relay import pump as pump_module
from kproxy.relay.endpoint import Endpoint
from kproxy.relay.lingering_close import LingeringSocket
from kproxy.relay.pump import Pump
from kproxy.relay.trio_epoll import Alarm
from kproxy.wire.generated.api_versions_request import ApiVersionsRequest
from kproxy.wire.generated.metadata_response import MetadataResponse, MetadataResponseBroker
from tests.support.bounds import Bounds
from tests.unit.relay.exchanges import own
from tests.unit.relay.sockets import (
    HOST,
    KIB,
    MIB,
    Backend,
    Peer,
    Relayed,
    at_work,
    descriptors,
    eventually,
    noise,
    pair,
    request,
    response,
    stage,
    stays,
)

METADATA = 3


@pytest.fixture
def quick_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deadlines are checked twenty times as often."""
    monkeypatch.setattr(pump_module, "_SWEEP_SECONDS", 0.05)


async def test_many_connections_at_once() -> None:
    """A hundred connections, each with its own bytes: none gets those of another."""
    async with stage() as running:
        many = [running.relay() for _ in range(100)]

        async def talk(number: int, relayed: Relayed) -> None:
            for turn in range(5):
                seed = 1000 * number + turn
                await relayed.exchange(turn, noise(seed % 50 * KIB, seed), noise(seed % 30 * KIB, -seed))

        async with trio.open_nursery() as nursery:
            for number, relayed in enumerate(many):
                nursery.start_soon(talk, number, relayed)
        assert len(running.pump.connections) == 100
        assert list(running.pump.connections) == sorted(running.pump.connections)


async def test_an_unexpected_exception_ends_one_connection() -> None:
    """A bug that one connection meets, here its cluster's, is counted as internal, and the others go on."""
    async with stage() as running:
        broken, beside = running.relay(), running.relay()

        def fail(node_id: int, host: str, port: int, local_host: str) -> tuple[str, int]:
            raise ZeroDivisionError("a bug")

        running.backend.advertise = fail  # type: ignore[method-assign]
        asked = request(1, key=METADATA, version=1)
        await broken.client.send(asked)
        await broken.broker.receive(len(asked))
        nodes = MetadataResponse(brokers=[MetadataResponseBroker(7, "broker", 9092)])
        await broken.broker.send(response(1, nodes.encode(1)))
        await broken.ended(Reason.INTERNAL_ERROR)
        await beside.exchange(1)


async def test_a_bug_in_a_closing_socket_is_survived() -> None:
    """A watched socket that belongs to no connection cannot end the pump either."""
    async with stage() as running:
        far, near = pair()

        met: list[bytes] = []

        class Broken(LingeringSocket):
            def event(self) -> None:
                met.append(near.recv(1))
                raise ZeroDivisionError("a bug")

        running.pump.lingering._lingering[near.fileno()] = Broken(near, running.pump._epoll, trio.current_time() + 60)
        far.send(b"x")
        await eventually(lambda: met == [b"x"], "the bug")
        await running.relay().exchange(1)
        await eventually(lambda: near.fileno() == -1, "the end of the broken socket: epoll would report it for ever")
        assert not running.pump.lingering
        assert running.pump.troubles.errors["lingering"] == 1
        far.close()


async def test_malformed_bytes_of_either_side() -> None:
    """They have a reason for each side that sent them, and are counted as protocol errors."""
    async with stage() as running:
        bad_request, bad_response, unasked = running.relay(), running.relay(), running.relay()
        await bad_request.client.send(request(1, b"\x7f", key=18, version=3))
        await bad_request.ended(Reason.MALFORMED_REQUEST)
        await bad_response.client.send(request(1, b"\xff\xff", key=18, version=0))
        await bad_response.broker.send(response(1, b"\0\0\x7f\xff\xff\xff"))
        await bad_response.ended(Reason.MALFORMED_REQUEST, Reason.MALFORMED_RESPONSE)
        await unasked.broker.send(response(1))
        await unasked.ended(Reason.MALFORMED_REQUEST, Reason.MALFORMED_RESPONSE)
        assert running.backend.counters.protocol_errors == {Reason.MALFORMED_REQUEST: 1, Reason.MALFORMED_RESPONSE: 2}


async def test_events_of_closed_and_reused_descriptors() -> None:
    """A connection closes in the round in which both its sockets are ready: the second event finds no endpoint."""
    async with stage() as running:
        for _ in range(20):
            doomed = running.relay()
            fds = (doomed.connection.client.fd, doomed.connection.broker.fd)
            doomed.client.sock.send(b"\xff" * 64)
            doomed.broker.sock.send(b"\xff" * 64)
            await eventually(lambda: doomed.connection.closed, "the end")  # noqa: B023
            await doomed.client.close()
            await doomed.broker.close()
            assert not any(isinstance(running.pump._endpoints.get(fd), Endpoint) for fd in fds)
            fresh = running.relay()
            await fresh.exchange(1)
            await fresh.client.close()
            await fresh.ended(Reason.CLIENT_CLOSED, Reason.INVALID_FRAME_SIZE, Reason.MALFORMED_RESPONSE)


async def test_an_event_of_a_descriptor_nobody_watches() -> None:
    """It is ignored."""
    async with stage() as running:
        far, near = pair()
        running.pump._epoll.register(near.fileno(), 1)
        far.send(b"x")
        await running.relay().exchange(1)
        running.pump._epoll.unregister(near.fileno())
        far.close()
        near.close()


async def test_other_tasks_run_under_constant_traffic() -> None:
    """While large bodies stream without a pause, a task that sleeps for a moment is woken soon."""
    async with stage() as running:
        several = [running.relay() for _ in range(3)]
        between: list[float] = []  # CPU seconds: the time of other processes is not the pump's

        async def stream(relayed: Relayed) -> None:
            body = noise(8 * MIB)
            for number in itertools.count(1):
                if len(between) >= 20:
                    return
                frame = request(number, body)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(relayed.client.send, frame)
                    await relayed.broker.receive(len(frame))

        async def tick() -> None:
            while True:
                began = time.thread_time()
                await trio.sleep(0.005)
                between.append(time.thread_time() - began)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(tick)
            with trio.fail_after(60):
                async with trio.open_nursery() as streams:
                    for relayed in several:
                        streams.start_soon(stream, relayed)
            nursery.cancel_scope.cancel()
        assert max(between) < 0.5


async def test_own_answers_are_not_starved() -> None:
    """Clients that the proxy answers itself come behind those that it relays, but they are served."""
    async with stage() as running:
        busy, asking = [running.relay() for _ in range(8)], [running.relay() for _ in range(40)]
        done = trio.Event()

        async def keep_busy(relayed: Relayed) -> None:
            for turn in itertools.count():
                await relayed.exchange(turn)
                if done.is_set():
                    return

        async with trio.open_nursery() as nursery:
            for relayed in busy:
                nursery.start_soon(keep_busy, relayed)
            for number in range(5):
                for relayed in asking:
                    await relayed.client.send(own(number))
                for relayed in asking:
                    (size,) = struct.unpack(">i", await relayed.client.receive(4))
                    answer = await relayed.client.receive(size)
                    assert answer[:4] == number.to_bytes(4, "big")
                    await relayed.exchange(100 + number)  # and relayed requests have their turn, too
            done.set()


@pytest.mark.parametrize("alarm", ["in time", "behind others"])
async def test_a_trickle_does_not_starve_the_others(alarm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events a fraction of a millisecond apart keep the pump in its epoll; Trio has its turn all the same.

    Also when the alarm's event comes late, as it does where thousands of sockets were ready before it.
    """
    if alarm == "behind others":
        in_time = Alarm.set
        monkeypatch.setattr(Alarm, "set", lambda self, _: in_time(self, 0.5))
    async with stage() as running:
        relayed = running.relay()
        done = False

        def trickle(count: int) -> None:
            nonlocal done
            with socket.socket(fileno=os.dup(relayed.client.sock.fileno())) as sock:
                sock.setblocking(True)
                frame = request(1, bytes(count))
                for position in range(len(frame)):
                    sock.send(frame[position : position + 1])
            done = True

        turns = 0
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.to_thread.run_sync, trickle, 200_000)
            await eventually(lambda: relayed.connection.requests.count == 1, "the request's head")
            began = time.thread_time()
            while not done:
                await trio.sleep(0.002)
                turns += 1
            assert turns > 20 * (time.thread_time() - began)
        relayed.broker.sock.send(response(1))
        await eventually(lambda: not relayed.connection.in_flight, "the response")


async def test_an_idle_pump_uses_no_cpu() -> None:
    """Idle connections cost nothing."""
    async with stage() as running:
        several = [running.relay() for _ in range(20)]
        for relayed in several:
            await relayed.exchange(1)
        began = time.thread_time()
        await trio.sleep(1.0)
        assert time.thread_time() - began < 0.1


async def test_an_idle_pump_is_not_woken() -> None:
    """It sleeps until bytes arrive or Trio has something due: in the second after an exchange only for the sweep."""
    async with stage() as running:
        await running.relay().exchange(1)
        await trio.sleep(0.1)
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
        await trio.sleep(1.0)
        assert resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before < 10


async def test_tasks_that_wait_for_trio_are_not_kept_waiting(bounds: Bounds) -> None:
    """Beside a connection that is never quiet, a Trio listener is served at once."""
    async with stage() as running, trio.open_nursery() as nursery:
        busy = running.relay()

        async def keep_busy() -> None:
            for turn in itertools.count():
                await busy.exchange(turn)

        nursery.start_soon(keep_busy)
        listeners = await nursery.start(trio.serve_tcp, trio.SocketStream.aclose, 0)
        port = listeners[0].socket.getsockname()[1]
        waits = []
        for _ in range(100):
            began = time.monotonic()
            async with await trio.open_tcp_stream(HOST, port) as stream:
                assert await stream.receive_some() == b""
            waits.append(time.monotonic() - began)
        bounds.below(median(waits), 0.05, "seconds until it was served")  # by the clock alone: two turns of 50 ms each
        nursery.cancel_scope.cancel()


@pytest.mark.usefixtures("quick_sweeps")
async def test_frames_that_stall() -> None:
    """A frame that stays incomplete, on either side, ends its connection; idle ones and slow readers are kept."""
    async with stage(stalled_frame=0.3) as running:
        idle, slow_broker = running.relay(), running.relay()
        await idle.exchange(1)
        await slow_broker.client.send(request(1))
        await slow_broker.broker.receive(len(request(1)))
        half_request, half_response, stuck = running.relay(), running.relay(), running.relay(buffer=32 * KIB)
        await half_request.client.send(request(1, b"rest")[:-1])
        await eventually(lambda: half_request.connection.closed, "the end of half a request")
        assert running.backend.ended == {Reason.STALLED_FRAME: 1}
        await half_response.client.send(request(1))
        await half_response.broker.receive(len(request(1)))
        await half_response.broker.send(response(1, b"rest")[:-1])
        await eventually(lambda: half_response.connection.closed, "the end of half a response")
        assert running.backend.ended == {Reason.STALLED_FRAME: 2}
        await stuck.client.send(request(1))
        await stuck.broker.receive(len(request(1)))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stuck.broker.send, response(1, noise(4 * MIB)))
            await eventually(lambda: stuck.connection.client.blocked, "a client that takes nothing")
            nursery.cancel_scope.cancel()
        await trio.sleep(1.0)  # three times the limit
        assert not stuck.connection.closed
        assert running.backend.ended == {Reason.STALLED_FRAME: 2}
        assert not idle.connection.closed
        assert not slow_broker.connection.closed


@pytest.mark.usefixtures("quick_sweeps")
async def test_a_slow_frame_is_not_a_stalled_one() -> None:
    """As long as bytes arrive, a frame may take longer than the limit."""
    async with stage(stalled_frame=0.5) as running:
        relayed = running.relay()
        frame = request(1, bytes(16))
        for position in range(len(frame)):
            await relayed.client.send(frame[position : position + 1])
            await trio.sleep(0.04)
        assert await relayed.broker.receive(len(frame)) == frame
        assert not relayed.connection.closed


@pytest.mark.usefixtures("quick_sweeps")
async def test_a_byte_now_and_then_does_not_save_a_frame() -> None:
    """A request has its time as a whole; one of as many bytes that come faster has more."""
    async with stage(whole_request=0.5, request_bytes_per_second=200) as running:
        slow, steady = running.relay(), running.relay()
        head, body = request(1, bytes(1000))[:20], bytes(990)
        await slow.client.send(head)
        await steady.client.send(head)
        with trio.fail_after(40):
            for position in range(0, 900, 20):
                if not slow.connection.closed:
                    await slow.client.send(body[position : position + 1])
                await steady.client.send(body[position : position + 20])
                await trio.sleep(0.04)
        await slow.ended(Reason.STALLED_FRAME)
        assert not steady.connection.closed


@pytest.mark.usefixtures("quick_sweeps")
async def test_a_client_that_waits_for_its_broker_is_not_slow() -> None:
    """A broker that takes nothing stops the client, whose request may then take as long as it needs."""
    async with stage(whole_request=0.3, request_bytes_per_second=1 << 30) as running:
        relayed = running.relay(buffer=32 * KIB)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.client.send, request(1, noise(4 * MIB)))
            await eventually(lambda: relayed.connection.broker.blocked, "a broker that takes nothing")
            await stays(lambda: not relayed.connection.closed, "closed for its broker", 1.0)
            nursery.cancel_scope.cancel()


@pytest.mark.usefixtures("quick_sweeps")
async def test_an_idle_connection_ends() -> None:
    """One with a request in flight is not idle: a consumer waits for records."""
    async with stage(idle=0.4) as running:
        idle, polling = running.relay(), running.relay()
        await idle.exchange(1)
        await polling.client.send(request(1))
        await polling.broker.receive(len(request(1)))
        await idle.ended(Reason.IDLE_TIMEOUT)
        assert await idle.client.receive_all() == b""
        await stays(lambda: not polling.connection.closed, "closed while it polls", 0.5)
        await polling.broker.send(response(1))
        await polling.client.receive(len(response(1)))
        await polling.ended(Reason.IDLE_TIMEOUT)


@pytest.mark.usefixtures("quick_sweeps")
async def test_a_client_that_does_not_read_ends() -> None:
    """One that takes a part now and then goes on, however slow it is."""
    async with stage(unread_response=0.6) as running:
        stuck, slow = running.relay(buffer=32 * KIB), running.relay(buffer=32 * KIB)

        async def send(relayed: Relayed) -> None:
            with suppress(trio.BrokenResourceError):
                await relayed.broker.send(response(1, noise(4 * MIB)))

        async with trio.open_nursery() as nursery:
            for relayed in (stuck, slow):
                await relayed.client.send(request(1))
                await relayed.broker.receive(len(request(1)))
                nursery.start_soon(send, relayed)
            await eventually(lambda: stuck.connection.client.blocked, "a client that takes nothing")
            with trio.fail_after(40):
                while not stuck.connection.closed:
                    await slow.client.receive(32 * KIB)
                    await trio.sleep(0.05)
            assert not slow.connection.closed
            assert running.backend.ended == {Reason.UNREAD_RESPONSE: 1}
            nursery.cancel_scope.cancel()


@pytest.mark.usefixtures("quick_sweeps")
async def test_a_request_that_is_never_answered() -> None:
    """Its connection ends, though other requests still come; one whose response is under way does not."""
    async with stage(unanswered_request=0.4) as running:
        waiting, under_way = running.relay(), running.relay()
        await under_way.client.send(request(1))
        await under_way.broker.receive(len(request(1)))
        await under_way.broker.send(response(1, bytes(100))[:-1])
        with trio.fail_after(40):
            for number in itertools.count(1):
                if waiting.connection.closed:
                    break
                await waiting.client.send(request(number))
                await trio.sleep(0.05)
        await waiting.ended(Reason.UNANSWERED_REQUEST)
        assert not under_way.connection.closed


async def test_a_sweep_takes_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections that are all overdue at once are closed a few at a time, and others are served in between."""
    for name, value in (("_SWEEP_SECONDS", 0.05), ("_SWEPT", 10), ("_CLOSED", 2)):
        monkeypatch.setattr(pump_module, name, value)
    async with stage(idle=0.3) as running, trio.open_nursery() as nursery:
        many = [running.relay() for _ in range(60)]
        passes = 0
        closed_in: list[int] = []

        async def count() -> None:
            nonlocal passes
            while True:
                passes += 1
                await trio.lowlevel.checkpoint()

        running.pump.ended = lambda *_: closed_in.append(passes)
        nursery.start_soon(count)
        await eventually(lambda: all(relayed.connection.closed for relayed in many), "the end of all")
        assert max(closed_in.count(one) for one in closed_in) <= 4  # twice two: Trio's order within a pass is random
        nursery.cancel_scope.cancel()


async def test_the_ends_of_many_take_turns() -> None:
    """A request that comes while two hundred clients leave is not behind all of them: one a round is let go.

    Before, it waited for every end: 0.3 s where 8,000 leave.
    """
    async with stage() as running:
        many, other = [running.relay() for _ in range(200)], running.relay()
        await other.exchange(1)
        before: list[bool] = []
        running.pump.ended = lambda *_: before.append(other.connection.requests.count == 1)
        for relayed in many:
            relayed.reset_client()
        other.client.sock.send(request(2))
        await eventually(lambda: len(before) == len(many), "the end of all")
        assert sum(before) <= 10


@pytest.mark.usefixtures("quick_sweeps")
async def test_a_half_closed_connection_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for its responses, but not for a broker that does not answer."""
    monkeypatch.setattr(pump_module, "HALF_CLOSED_SECONDS", 0.3)
    async with stage() as running:
        relayed = running.relay()
        await relayed.client.send(request(1))
        relayed.client.half_close()
        await relayed.broker.receive(len(request(1)))
        await stays(lambda: not relayed.connection.closed, "closed too soon", 0.15)
        await relayed.ended(Reason.CLIENT_CLOSED)
        assert await relayed.client.receive_all() == b""


@pytest.mark.usefixtures("quick_sweeps")
async def test_a_broker_that_takes_nothing_does_not_keep_a_client_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it sent waits for the broker as long as answers do at a half-close."""
    monkeypatch.setattr(pump_module, "HALF_CLOSED_SECONDS", 0.3)
    async with stage() as running:
        relayed = running.relay(buffer=32 * KIB)
        with trio.move_on_after(0.3):
            await relayed.client.send(request(1, noise(8 * MIB)))
        await eventually(lambda: relayed.connection.broker.blocked, "a broker that takes nothing")
        await relayed.client.reset()
        await eventually(lambda: bool(relayed.connection.client.gone), "the reset")
        assert not relayed.connection.ending
        await relayed.ended(Reason.CLIENT_RESET)


@pytest.mark.usefixtures("quick_sweeps")
async def test_an_answer_that_nobody_reads_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the broker has all that the client sent before its reset. A broker whose kernel has not is waited for."""
    monkeypatch.setattr(pump_module, "GONE_SECONDS", 0.2)
    async with stage() as running:
        has_all, lacks = running.relay(), running.relay(buffer=32 * KIB)
        lacks.connection.broker.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MIB)
        large = request(1, noise(300 * KIB))
        for relayed, sent in ((has_all, request(1)), (lacks, large)):
            await relayed.client.send(sent)
            await eventually(lambda: relayed.connection.received == len(sent), "all is received")  # noqa: B023
            await relayed.client.reset()
            await eventually(lambda: relayed.connection.ending, "the reset")  # noqa: B023
        await eventually(lambda: has_all.connection.closed, "the end of the one")
        assert not lacks.connection.broker.blocked
        await stays(lambda: not lacks.connection.closed, "what the broker has not read is lost", 0.5)
        assert await lacks.broker.receive_all() == large
        await lacks.ended(Reason.CLIENT_RESET)


async def test_waiting_for_the_last_to_go() -> None:
    """`wait_empty` returns when no connection is left, and at once when there is none."""
    async with stage() as running:
        await running.pump.wait_empty()
        one, other = running.relay(), running.relay()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(running.pump.wait_empty)
            for _ in range(2):  # up to its wait
                await trio.lowlevel.checkpoint()
            one.connection.close(Reason.SHUTDOWN)
            await trio.sleep(0.02)
            assert nursery.child_tasks
            other.connection.close(Reason.SHUTDOWN)


async def test_cancellation_closes_everything() -> None:
    """Connections, pipes that hold bytes, and closing sockets: nothing is left, each connection ended by shutdown."""
    before = descriptors()
    backend = Backend()
    far: list[socket.socket] = []
    async with trio.open_nursery() as nursery:
        pump = Pump(Limits(), Timeouts())
        nursery.start_soon(pump.run)
        for _ in range(3):
            client, inner_client = pair(receive=16 * KIB, send=16 * KIB)
            broker, inner_broker = pair()
            far += (client, broker)
            context = Context(backend, None, "client:1", HOST)
            backend.counters.connection_opened()
            pump.relay(context, backend.table, Limits(), inner_client, inner_broker, "broker:9092")
        far[0].send(b"\xff" * 64)
        far[2].send(request(1))
        far[3].send(response(1, noise(MIB))[: 200 * KIB])
        await eventually(lambda: len(pump.connections) == 2, "one connection's end")
        assert len(pump.lingering)
        await trio.sleep(0.05)
        nursery.cancel_scope.cancel()
    assert backend.ended == {Reason.INVALID_FRAME_SIZE: 1, Reason.SHUTDOWN: 2}
    for sock in far:
        sock.close()
    assert not descriptors() - before


async def test_a_stopped_pump_takes_nobody() -> None:
    """A broker that was reached at the moment of the stop is not left open."""
    pump, backend = Pump(Limits(), Timeouts()), Backend()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pump.run)
        await at_work(pump)
        nursery.cancel_scope.cancel()
    client, inner_client = pair()
    broker, inner_broker = pair()
    context = Context(backend, None, "client:1", HOST)
    with pytest.raises(ValueError, match="closed epoll"):
        pump.relay(context, backend.table, Limits(), inner_client, inner_broker, "broker:9092")
    assert inner_broker.fileno() == -1
    assert not pump.connections
    for sock in (client, inner_client, broker):
        sock.close()


async def _send_for_ever(peer: Peer, data: bytes) -> NoReturn:
    """Send without end: the kernel's buffers grow as they like, so no fixed amount is sure not to fit."""
    while True:
        await peer.send(data)


@pytest.mark.usefixtures("quick_sweeps")
async def test_a_last_answer_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients are closed although the broker never answers earlier requests, or the client reads nothing."""
    monkeypatch.setattr(pump_module, "HALF_CLOSED_SECONDS", 0.3)
    async with stage() as running:
        running.backend.means = Action.NOTIFY
        silent, stuck = running.relay(node_id=7), running.relay(node_id=7, buffer=32 * KIB)
        hello = ApiVersionsRequest(client_software_name="n", client_software_version="1", node_id=8).encode(5)
        for relayed in (silent, stuck):
            await relayed.client.send(request(1), request(2, b"\xff\xff\0" + hello, key=18, version=5))
            await relayed.broker.receive(len(request(1)))
            await eventually(lambda: relayed.connection.life.reason is Reason.REBOOTSTRAP, "the last request")  # noqa: B023
        with pytest.raises(trio.BrokenResourceError):
            await _send_for_ever(stuck.broker, response(1, noise(MIB)))
        await eventually(lambda: stuck.connection.closed and silent.connection.closed, "both ends")
        assert running.backend.ended == {Reason.REBOOTSTRAP: 2}
