"""Client sockets that kproxy has closed: responses arrive, the end comes apart from them, and none is left open."""

from __future__ import annotations

import pytest
import trio

from kproxy.observe.reasons import Reason
from kproxy.relay import lingering_close, pump
from kproxy.relay.lingering_close import LINGER_SECONDS, PAUSE_SECONDS
from tests.support.bounds import Bounds
from tests.unit.relay.sockets import KIB, MIB, eventually, noise, request, response, stage


async def test_the_last_response_arrives_although_the_client_sends_on() -> None:
    """It is closed for garbage, megabytes of it; what it was sent before arrives all the same."""
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
        await eventually(lambda: not running.pump.lingering, "the socket's end")


@pytest.mark.parametrize("idle", [True, False])
async def test_the_end_does_not_come_with_the_last_response(idle: bool, bounds: Bounds) -> None:
    """Rebootstrap: kafka-python loses a 129 that arrives with the end. An idle client need not wait."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.exchange(1)
        if idle:
            await trio.sleep(PAUSE_SECONDS * 1.2)
        begun = trio.current_time()
        relayed.connection.close(Reason.REBOOTSTRAP)
        assert await relayed.client.receive_all() == b""
        took = trio.current_time() - begun
        assert idle or took >= PAUSE_SECONDS / 2
        if idle:
            bounds.below(took, PAUSE_SECONDS / 2, "seconds until the end of an idle client")


async def test_a_client_sent_nothing_need_not_wait(bounds: Bounds) -> None:
    """KIP-899: a Java client that waits for its first answer counts its node as available, so a refusal is prompt."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.client.send(request(1))
        await relayed.broker.receive(len(request(1)))
        begun = trio.current_time()
        relayed.connection.close(Reason.RETIRED_NODE)
        assert await relayed.client.receive_all() == b""
        bounds.below(trio.current_time() - begun, PAUSE_SECONDS / 2, "seconds until the end of a client sent nothing")


async def test_a_client_that_stays_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that never closes is closed for good at the deadline."""
    monkeypatch.setattr(lingering_close, "LINGER_SECONDS", 0.2)
    monkeypatch.setattr(pump, "_SWEEP_SECONDS", 0.05)
    assert LINGER_SECONDS < 5
    async with stage() as running:
        relayed = running.relay()
        await relayed.exchange(1)
        relayed.connection.close(Reason.BROKER_CLOSED)
        assert len(running.pump.lingering) == 1
        await eventually(lambda: not running.pump.lingering, "the socket's end")
        assert not running.pump._endpoints


async def test_nobody_waits_for_delivery_to_a_client_that_has_all() -> None:
    """Waiting ends at once for clients that have everything, and for a late reader when it has read."""
    async with stage() as running:
        prompt, slow = running.relay(), running.relay(buffer=16 * KIB)
        await prompt.exchange(1)
        prompt.connection.close(Reason.DRAINED)
        with trio.fail_after(2):
            await running.pump.lingering.wait_delivered()
        await slow.client.send(request(1))
        await slow.broker.receive(len(request(1)))
        answered = response(1, noise(30 * KIB))
        await slow.broker.send(answered)
        await eventually(lambda: not slow.connection.in_flight, "the response on its way")
        assert not slow.connection.client.blocked
        slow.connection.close(Reason.DRAINED)
        with trio.move_on_after(0.2) as scope:
            await running.pump.lingering.wait_delivered()
        assert scope.cancelled_caught
        assert await slow.client.receive_all() == answered
        with trio.fail_after(2):
            await running.pump.lingering.wait_delivered()
