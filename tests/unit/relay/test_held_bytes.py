"""What all connections hold together: counted, bounded, and taken from the one that has moved nothing for longest."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from struct import Struct

import pytest
import trio

from kproxy.config import Limits
from kproxy.observe.reasons import Reason
from kproxy.relay.apis.sasl import MAX_REQUEST
from kproxy.relay.flow import SMALL
from kproxy.relay.held_bytes import HeldBytes
from kproxy.relay.requests import FIRST_HELD
from tests.unit.relay import frames
from tests.unit.relay.sockets import KIB, MIB, Relayed, eventually, noise, request, stage

SASL_AUTHENTICATE = 36
ALTER_CONFIGS = 33
SMALL_BUFFER = 4 * KIB


@dataclass
class Connection:
    """A connection that only holds."""

    id: int
    evicted: list[str] = field(default_factory=list)

    def evict(self, detail: str) -> None:
        self.evicted.append(detail)


def test_the_one_without_progress_for_longest_goes_first() -> None:
    """Each change counts as progress; what a connection no longer holds is not counted."""
    held, one, two, three = HeldBytes("limits.x", 100 * KIB), *map(Connection, (1, 2, 3))
    assert held.note(one, 40 * KIB)
    assert held.note(two, 40 * KIB)
    assert held.note(one, 50 * KIB)
    assert held.note(three, 30 * KIB)
    assert (one.evicted, three.evicted) == ([], [])
    assert two.evicted == [f"held {40 * KIB} bytes when all together passed limits.x, {100 * KIB} bytes"]
    assert held.total == 80 * KIB
    assert not held.note(one, 0)
    assert held.total == 30 * KIB


def test_a_lower_limit() -> None:
    """It ends nobody by itself; the next bytes that are held are bounded by it."""
    held, one, two = HeldBytes("limits.x", 100 * KIB), *map(Connection, (1, 2))
    assert held.note(one, 60 * KIB)
    held.limit = 50 * KIB
    assert one.evicted == []
    assert held.note(two, 40 * KIB)
    assert one.evicted == [f"held {60 * KIB} bytes when all together passed limits.x, {50 * KIB} bytes"]
    assert two.evicted == []


def test_one_that_holds_little_is_not_counted() -> None:
    """It may always hold that much, however many there are."""
    held, small = HeldBytes("limits.x", SMALL), Connection(1)
    assert not held.note(small, SMALL)
    assert held.total == 0


def test_one_that_holds_more_than_all_may() -> None:
    """It goes, whoever else is there."""
    held, large = HeldBytes("limits.x", 10 * KIB), Connection(1)
    assert not held.note(large, 11 * KIB)
    assert (len(large.evicted), held.total) == (1, 0)


def _all_held(relayed: Relayed) -> bool:
    return relayed.connection.requests.held_bytes == 400 * KIB


async def test_requests_that_are_never_complete() -> None:
    """Forty clients that each send most of a large request that is held have the limit together, not forty times it."""
    async with stage(limits=Limits(held_request_bytes=2 * MIB)) as running:
        relayed = [running.relay() for _ in range(40)]
        for one in relayed:
            await one.exchange(1)
            with suppress(BrokenPipeError, ConnectionResetError):
                await one.client.send(frames.raw_request(SASL_AUTHENTICATE, 2, 2, noise(500 * KIB))[: 400 * KIB])
            await eventually(partial(_all_held, one), "a held request")
            assert running.pump.held_requests.total <= 2 * MIB
        assert running.backend.ended == {Reason.MEMORY_LIMIT: 35}
        assert [one.connection.closed for one in relayed] == [True] * 35 + [False] * 5


async def test_a_client_id_that_is_never_complete() -> None:
    """The head of a connection's first request counts like all that is held."""
    head = Struct(">ihhih").pack(40_000, 3, 1, 1, 32_000) + bytes(31_000)
    async with stage(limits=Limits(held_request_bytes=2 * MIB)) as running:
        relayed = running.relay()
        await relayed.client.send(head)
        await eventually(lambda: running.pump.held_requests.total == len(head), "it is counted")


async def _hold(relayed: Relayed, size: int) -> None:
    """Have kproxy hold about so many bytes for a client that does not read."""
    relayed.connection.client.send(noise(size))
    relayed.client.sock.send(request(1))
    assert await relayed.broker.receive(len(request(1))) == request(1)


async def test_clients_that_do_not_read() -> None:
    """What is held for them stays within the limit; one that reads keeps its connection."""
    async with stage(limits=Limits(held_response_bytes=16 * MIB)) as running:
        reader, lazy = running.relay(), [running.relay(buffer=SMALL_BUFFER) for _ in range(6)]
        for one in lazy:
            with suppress(BrokenPipeError, ConnectionResetError):
                await _hold(one, 6 * MIB)
            assert running.pump.held_responses.total <= 16 * MIB
        assert running.backend.ended[Reason.MEMORY_LIMIT] >= 3
        assert lazy[0].connection.closed
        assert not lazy[-1].connection.closed
        await reader.exchange(1)


async def test_what_ends_is_counted_no_longer() -> None:
    """Neither a connection whose bytes go out, nor one that closes."""
    async with stage() as running:
        reads, closes = running.relay(buffer=SMALL_BUFFER), running.relay(buffer=SMALL_BUFFER)
        for one in (reads, closes):
            await _hold(one, 6 * MIB)
        both = running.pump.held_responses.total
        assert both > 4 * MIB
        await reads.client.receive(6 * MIB)
        await eventually(lambda: 0 < running.pump.held_responses.total < both, "one that holds nothing")
        closes.connection.close(Reason.CLIENT_RESET)
        assert running.pump.held_responses.total == 0


def _alter_configs(size: int) -> bytes:
    """AlterConfigs v1 for topics: as many as make more than these bytes."""
    topic = Struct(">bhci").pack(2, 1, b"t", 0)
    count = size // len(topic) + 1
    return Struct(">i").pack(count) + count * topic + b"\0"


@pytest.mark.parametrize(
    ("answered", "principal"), [(False, None), (True, None), (False, "User:carol")], ids=["new", "answered", "known"]
)
async def test_before_the_first_response(answered: bool, principal: str | None) -> None:
    """A client that has got no response yet may have little held; afterwards, as much as the API needs.

    One that has authenticated to kproxy may have that at once.
    """
    async with stage() as running:
        relayed = running.relay()
        relayed.connection.context.principal = principal
        if answered:
            await relayed.exchange(1)
        large = frames.raw_request(ALTER_CONFIGS, 1, 2, _alter_configs(FIRST_HELD))
        relayed.client.sock.send(large[:1000])
        if answered or principal is not None:
            await eventually(lambda: relayed.connection.requests.collecting, "a held request")
        else:
            await relayed.ended(Reason.FRAME_TOO_LARGE)


async def test_the_largest_first_request_of_a_known_client() -> None:
    """It reaches the broker; one byte more ends the connection, whoever the client is."""
    async with stage() as running:
        most, ends = running.relay(), running.relay()
        for one in (most, ends):
            one.connection.context.principal = "User:carol"
        size = len(frames.raw_request(SASL_AUTHENTICATE, 2, 2)) - 4
        large = frames.raw_request(SASL_AUTHENTICATE, 2, 2, noise(MAX_REQUEST - size))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(most.client.send, large)
            assert await most.broker.receive(len(large)) == large
        ends.client.sock.send(frames.raw_request(SASL_AUTHENTICATE, 2, 2, noise(MAX_REQUEST - size + 1))[:1000])
        await ends.ended(Reason.FRAME_TOO_LARGE)
