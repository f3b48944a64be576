"""Bytes held in both directions: frames until they are whole, and frames that wait for an event."""

from __future__ import annotations

import pytest

from kproxy.relay.flow import UNTIL_RESUMED, Flow
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import Relay, Side, Wire, by
from tests.unit.relay.own import Own, dialogue, park, parked_response, step_response

METADATA, VERSION = 3, 13
SIDES: tuple[Side, ...] = ("client", "broker")
REQUESTS = [frames.request(METADATA, VERSION, number) for number in (1, 2, 3)]
RESPONSES = [frames.response(METADATA, VERSION, number) for number in (1, 2, 3)]


def asked(side: Side) -> tuple[Relay, Flow, Wire, list[bytes]]:
    """A connection, the flow of what `side` sends, its sink, and three frames for it that must be whole."""
    relay = Relay()
    if side == "client":
        return relay, relay.requests, relay.broker, REQUESTS
    relay.feed("client", b"".join(REQUESTS))
    return relay, relay.responses, relay.client, RESPONSES


@pytest.mark.parametrize("side", SIDES)
@every("size", [*range(1, 13), 50, 1000])
def test_a_frame_is_held_until_it_is_whole(side: Side, size: int) -> None:
    """For all pieces: whole frames go on, each once, and only what is not whole is held."""
    relay, flow, sink, (first, second, third) = asked(side)
    for piece in by(size)(first + second + third[:-2]):
        relay.feed(side, piece)
    assert (bytes(sink.data), flow.count, flow.held_bytes) == (first + second, 2, len(third) - 2)
    relay.feed(side, third[-2:])
    assert (bytes(sink.data), flow.count, flow.held_bytes) == (first + second + third, 3, 0)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("at", [1, 11, -1])
def test_what_is_behind_a_held_frame(side: Side, at: int) -> None:
    """It is looked at in the same round; only what is not whole is held."""
    relay, flow, sink, (first, second, third) = asked(side)
    relay.feed(side, first[:at])
    relay.feed(side, first[at:] + second + third[:3])
    assert (bytes(sink.data), flow.count, flow.held_bytes) == (first + second, 2, 3)


def test_requests_that_wait_for_a_word() -> None:
    """Everything behind a dialogue, until it is over; then an incomplete frame is held for its rest."""
    relay = Own()
    behind = frames.heartbeat(1)[0] + REQUESTS[1][:-1]
    relay.feed("client", dialogue(5, 1))
    before = bytes(relay.broker.data)
    for piece in by(7)(behind):
        relay.feed("client", piece)
    assert (bytes(relay.broker.data), relay.requests.held_bytes) == (before, len(behind))
    relay.feed("broker", step_response(5, 0))
    assert bytes(relay.broker.data) == before + frames.heartbeat(1)[0]
    assert relay.requests.held_bytes == len(REQUESTS[1]) - 1


def test_responses_that_wait_for_a_word() -> None:
    """Everything behind a parked answer, until that is there; then an incomplete frame is held for its rest."""
    relay = Own()
    pong = frames.heartbeat(1)[1]
    relay.feed("client", park(5) + frames.heartbeat(1)[0] + REQUESTS[1])
    for piece in by(9)(pong + RESPONSES[1][:-1]):
        relay.feed("broker", piece)
    assert (bytes(relay.client.data), relay.responses.held_bytes) == (b"", len(pong + RESPONSES[1]) - 1)
    relay.feed("answer", parked_response(5))
    assert bytes(relay.client.data) == parked_response(5) + pong
    assert relay.responses.held_bytes == len(RESPONSES[1]) - 1


def test_nothing_has_waited() -> None:
    """`go_on` finds nothing to look at."""
    relay = Own()
    relay.feed("client", dialogue(5, 1))
    relay.feed("broker", step_response(5, 0))
    assert (relay.requests.held_bytes, relay.requests.under_way, relay.reason) == (0, False, None)


def test_nothing_is_ever_enough_bytes_to_go_on() -> None:
    """A frame that waits for an event needs more bytes than any frame can have."""
    assert UNTIL_RESUMED > 1 << 40
