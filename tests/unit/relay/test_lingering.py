"""A client socket that kproxy has closed: the client reads the last bytes, although it keeps sending."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator

import pytest
import trio

from kproxy.observe.reasons import Reason
from kproxy.relay import pump as pump_module
from kproxy.relay.lingering import LINGER_SECONDS, PAUSE_SECONDS, Lingering
from tests.unit.relay.sockets import KIB, MIB, eventually, noise, pair, request, response, stage


@pytest.fixture
def epoll() -> Iterator[select.epoll]:
    with select.epoll() as poll:
        yield poll


def rounds(epoll: select.epoll, lingering: Lingering) -> int:
    """Handle events until there are none for a moment; how many there were."""
    count = 0
    while events := epoll.poll(0.05):
        count += 1
        for _ in events:
            lingering.event()
    return count


def ended(sock: socket.socket, epoll: select.epoll) -> Lingering:
    """One that has said goodbye."""
    lingering = Lingering(sock, epoll, 0.0)
    lingering.end()
    return lingering


def test_it_says_goodbye_and_throws_away_what_comes(epoll: select.epoll) -> None:
    """The client reads to the end; what it sends meanwhile is not answered with a reset."""
    client, near = pair()
    near.send(b"last words")
    lingering = ended(near, epoll)
    client.setblocking(True)
    client.send(noise(100 * KIB))
    assert rounds(epoll, lingering) > 1
    assert (client.recv(100), client.recv(100), lingering.done) == (b"last words", b"", False)
    client.close()
    assert rounds(epoll, lingering) == 1
    assert (lingering.done, lingering.undelivered) == (True, False)
    lingering.close()
    assert near.fileno() == -1


def test_stale_events_do_nothing(epoll: select.epoll) -> None:
    """An event with nothing to read, and one after the end, change nothing."""
    client, near = pair()
    lingering = ended(near, epoll)
    lingering.event()
    before = lingering.done
    client.close()
    rounds(epoll, lingering)
    lingering.event()
    assert (before, lingering.done) == (False, True)
    lingering.close()


def test_a_client_that_resets_is_done(epoll: select.epoll) -> None:
    """A reset ends it, and is not reported again and again."""
    client, near = pair()
    lingering = ended(near, epoll)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    client.close()
    assert rounds(epoll, lingering) == 1
    assert lingering.done
    lingering.close()


def test_a_client_that_is_gone_already(epoll: select.epoll) -> None:
    """There is nobody to say goodbye to."""
    client, near = pair()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    client.close()
    assert select.select([near], [], [], 5)[0]
    lingering = ended(near, epoll)
    assert lingering.done
    lingering.close()
    assert near.fileno() == -1


def test_the_end_comes_after_a_pause(epoll: select.epoll) -> None:
    """Until then the client has its response and no end; one that closes meanwhile is done."""
    client, near = pair()
    near.send(b"last words")
    lingering = Lingering(near, epoll, 0.0)
    client.settimeout(0.05)
    assert client.recv(100) == b"last words"
    with pytest.raises(TimeoutError):
        client.recv(100)
    assert lingering.undelivered
    client.close()
    assert rounds(epoll, lingering) == 1
    lingering.end()
    assert (lingering.done, lingering.undelivered) == (True, False)
    lingering.close()


def test_undelivered_until_the_client_takes_it(epoll: select.epoll) -> None:
    """A full receive window keeps bytes here that a reset would destroy; once the client reads there are none."""
    client, near = pair(receive=4 * KIB, send=64 * KIB)
    sent = near.send(noise(MIB))
    lingering = ended(near, epoll)
    before = lingering.undelivered
    client.settimeout(5)
    taken = 0
    while part := client.recv(MIB):
        taken += len(part)
    assert taken == sent
    assert (before, lingering.undelivered) == (True, False)
    client.close()
    lingering.close()


async def test_the_last_response_arrives_although_the_client_sends_on() -> None:
    """Closed for garbage, megabytes of it: what the client was sent before arrives all the same."""
    async with stage() as running:
        relayed = running.relay(buffer=16 * KIB)
        await relayed.client.send(request(1))
        await relayed.broker.receive(len(request(1)))
        answered = response(1, noise(30 * KIB))
        await relayed.broker.send(answered)
        await eventually(lambda: not relayed.connection.in_flight, "the response on its way")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.client.send, b"\xff" * (4 * MIB))
            await relayed.ended(Reason.INVALID_FRAME_SIZE)
            assert await relayed.client.receive_all() == answered
        await relayed.client.close()
        await eventually(lambda: not running.pump._lingering, "the socket's end")


@pytest.mark.parametrize("idle", [True, False])
async def test_the_end_does_not_come_with_the_last_response(idle: bool) -> None:
    """Rebootstrap: kafka-python loses a 129 that the end comes with. One that was sent nothing lately need not wait."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.exchange(1)
        if idle:
            await trio.sleep(PAUSE_SECONDS * 1.2)
        begun = trio.current_time()
        relayed.connection.close(Reason.REBOOTSTRAP)
        assert await relayed.client.receive_all() == b""
        assert (trio.current_time() - begun < PAUSE_SECONDS / 2) is idle


async def test_who_was_sent_nothing_need_not_wait() -> None:
    """KIP-899: a Java client that waits for its first answer counts its node as available, so a refusal is prompt."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.client.send(request(1))
        await relayed.broker.receive(len(request(1)))
        begun = trio.current_time()
        relayed.connection.close(Reason.RETIRED_NODE)
        assert await relayed.client.receive_all() == b""
        assert trio.current_time() - begun < PAUSE_SECONDS / 2


async def test_a_client_that_stays_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that never closes is closed for good at the deadline."""
    monkeypatch.setattr(pump_module, "LINGER_SECONDS", 0.2)
    monkeypatch.setattr(pump_module, "_SWEEP_SECONDS", 0.05)
    assert LINGER_SECONDS < 5
    async with stage() as running:
        relayed = running.relay()
        await relayed.exchange(1)
        relayed.connection.close(Reason.BROKER_CLOSED)
        assert len(running.pump._lingering) == 1
        await eventually(lambda: not running.pump._lingering, "the socket's end")
        assert not running.pump._endpoints


async def test_nobody_waits_for_delivery_to_a_client_that_has_all() -> None:
    """`wait_delivered` returns at once for clients that have everything, and waits for one that does not read."""
    async with stage() as running:
        prompt, slow = running.relay(), running.relay(buffer=16 * KIB)
        await prompt.exchange(1)
        prompt.connection.close(Reason.DRAINED)
        with trio.fail_after(0.5):
            await running.pump.wait_delivered()
        await slow.client.send(request(1))
        await slow.broker.receive(len(request(1)))
        answered = response(1, noise(30 * KIB))
        await slow.broker.send(answered)
        await eventually(lambda: not slow.connection.in_flight, "the response on its way")
        assert not slow.connection.client.blocked
        slow.connection.close(Reason.DRAINED)
        with trio.move_on_after(0.2) as scope:
            await running.pump.wait_delivered()
        assert scope.cancelled_caught
        assert await slow.client.receive_all() == answered
        with trio.fail_after(0.5):
            await running.pump.wait_delivered()
