"""Expected responses: they come in the order of the requests, and the broker's time begins when it has the request."""

from __future__ import annotations

import time

import pytest

from tests.support.bounds import Bounds
from tests.unit.relay import frames
from tests.unit.relay.flows import Relay, Script, play


def test_extreme_correlation_ids() -> None:
    """Any int32 is valid."""
    ids = [-(2**31), -1, 0, 2**31 - 1]
    relay = play([("client", b"".join(frames.heartbeat(number)[0] for number in ids))])
    assert [expected.correlation_id for expected in relay.in_flight] == ids


def test_an_id_that_is_in_flight_twice() -> None:
    """Each response is matched with its own request, by the order: of other APIs, and in other versions."""
    coordinator, metadata = frames.request(10, 4, 1), frames.request(3, 12, 1)
    ping, pong = frames.heartbeat(1)
    found = frames.response(10, 4, 1, {"Coordinators": [{"Key": "g", "NodeId": 1, "Host": "old", "Port": 9092}]})
    brokers = frames.response(3, 12, 1, {"Brokers": [{"NodeId": 1, "Host": "old", "Port": 9092}]})
    relay = play([("client", ping + coordinator + metadata + ping), ("broker", pong + found + brokers + pong)])
    assert (relay.reason, len(relay.in_flight)) == (None, 0)
    sent = bytes(relay.client.data)
    assert sent.startswith(pong)
    assert sent.endswith(pong)
    assert b"old" not in sent


@pytest.mark.parametrize(
    "second", [frames.request(3, 13, 1), frames.raw_request(18, 99, 1)], ids=["held", "answered by kproxy"]
)
def test_a_request_that_is_held_with_an_id_in_flight(second: bytes) -> None:
    """It is expected behind the one before."""
    ping = frames.heartbeat(1)[0]
    relay = play([("client", ping + second)])
    assert [expected.correlation_id for expected in relay.in_flight] == [1, 1]
    assert (relay.reason, bytes(relay.client.data)) == (None, b"")


def test_ids_that_go_down_are_fine() -> None:
    """At once, and from one request to the next."""
    down = [frames.heartbeat(number) for number in (9, 8, 7, -3)]
    assert play([("client", b"".join(ping for ping, _ in down))]).reason is None
    one_by_one: Script = [step for ping, pong in down for step in (("client", ping), ("broker", pong))]
    assert play(one_by_one).reason is None


def test_ten_thousand_requests_in_flight_cost_no_more_than_each(bounds: Bounds) -> None:
    """They all fit into one read, and take 0.02 s."""
    sent = b"".join(frames.raw_request(12, 3, number) for number in range(10_000))
    relay, start = Relay(), time.process_time()
    relay.feed("client", sent)
    bounds.below(time.process_time() - start, 0.5, "CPU seconds of 10,000 requests")
    assert (len(relay.in_flight), relay.reason) == (10_000, None)


def test_an_id_of_a_request_without_response_may_come_again() -> None:
    """With acks=0 nothing is in flight."""
    assert play([("client", frames.produce(9, 1, 0) * 3 + frames.heartbeat(1)[0])]).reason is None


def test_a_request_is_sent_when_its_last_byte_is() -> None:
    """The broker's time begins when it has all of a request; a frame under way is not out yet."""
    relay = Relay()
    small, large = frames.heartbeat(1)[0], frames.produce(12, 2, records=bytes(200))
    relay.requests.feed(memoryview(small + large[:100]), 1.0)
    relay.requests.settle(2.0)
    relay.requests.feed(memoryview(large[100:]), 3.0)
    relay.requests.settle(4.0)
    relay.requests.settle(5.0)
    assert [(e.received, e.sent) for e in relay.in_flight] == [(1.0, 2.0), (1.0, 4.0)]


def test_a_request_without_response_under_way_leaves_others_times_alone() -> None:
    """A request before a long Produce with acks=0 was out before it, not after."""
    relay = Relay()
    small, large = frames.heartbeat(1)[0], frames.produce(12, 2, 0, records=bytes(200))
    relay.requests.feed(memoryview(small + large[:100]), 1.0)
    relay.requests.settle(2.0)
    relay.requests.feed(memoryview(large[100:]), 3.0)
    relay.requests.settle(4.0)
    assert [(e.received, e.sent) for e in relay.in_flight] == [(1.0, 2.0)]


def test_the_last_request_of_a_read_is_noted_when_it_is_out() -> None:
    """The ones before it are noted at once, so that they are expected in order."""
    relay = Relay()
    pings = b"".join(frames.heartbeat(number)[0] for number in (1, 2, 3))
    rest = relay.requests.feed(memoryview(pings), 1.0)
    assert rest is not None
    assert (bytes(rest), [expected.correlation_id for expected in relay.in_flight]) == (pings, [1, 2])
    relay.requests.settle(2.0)
    assert [(e.correlation_id, e.received, e.sent) for e in relay.in_flight] == [(n, 1.0, 2.0) for n in (1, 2, 3)]


def test_a_request_that_is_not_noted_yet_is_in_flight_for_the_next_one() -> None:
    """A request that is held is expected behind it."""
    ping = frames.heartbeat(1)[0]
    relay = Relay()
    relay.requests.feed(memoryview(ping + frames.request(3, 13, 2)), 1.0)
    assert [expected.correlation_id for expected in relay.in_flight] == [1, 2]
