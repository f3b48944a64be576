"""The broker's responses: which request each answers, what the client gets of it, what ends the connection."""

from __future__ import annotations

import tracemalloc

import pytest

from kproxy.observe.reasons import Reason
from kproxy.relay.responses import HEAD_BYTES
from kproxy.wire.primitives import INT32
from tests.property.wire_contents import TAGS
from tests.unit.relay import frames
from tests.unit.relay.exchanges import asked, exchange, ids, own
from tests.unit.relay.flows import KIB, Relay, Script, play, whole

_KINDS = [(2, 7), (3, 12), (0, 9), (1, 17), (10, 4), (12, 4), (0, 12)]
_BROKER = {"NodeId": 1, "Host": "broker", "Port": 9092}
_ADDRESSES: dict[int, dict[str, object]] = {3: {"Brokers": [_BROKER]}, 10: {"Coordinators": [_BROKER]}}


def _told(number: int) -> tuple[bytes, bytes]:
    """A request, and its response: of several kinds in turn, of which two are rewritten."""
    key, version = _KINDS[number % len(_KINDS)]
    return asked(key, version, number), frames.response(key, version, number, _ADDRESSES.get(key))


def test_pipelined_responses_go_to_their_requests() -> None:
    """A hundred of several kinds, rewritten and not, arrive in order."""
    requests, responses = zip(*map(_told, range(100)), strict=True)
    relay = play([("client", b"".join(requests)), ("broker", b"".join(responses))])
    assert ids(relay) == list(range(100))
    assert (len(relay.in_flight), relay.responses.count) == (0, 100)
    assert bytes(relay.client.data).count(b"proxy.example") == 29


@pytest.mark.parametrize("at_once", [1, 50])
def test_nothing_is_lost_on_a_connection_that_lives_long(at_once: int) -> None:
    """Thousands of requests, one after the other or many at once: each one arrives, and its response, once."""
    relay = Relay()
    for first in range(0, 3000, at_once):
        requests, responses = zip(*map(_told, range(first, first + at_once)), strict=True)
        relay.feed("client", b"".join(requests))
        relay.feed("broker", b"".join(responses))
    assert relay.reason is None
    assert [INT32.unpack_from(one, 4)[0] for one in frames.split(bytes(relay.broker.data))] == list(range(3000))
    assert ids(relay) == list(range(3000))


def test_what_nobody_asked_for() -> None:
    """A response with nothing in flight ends the connection, also right behind one that was due."""
    ping, pong = frames.heartbeat(1)
    assert play([("broker", pong)]).reason is Reason.MALFORMED_RESPONSE
    assert play([("client", ping), ("broker", pong + frames.heartbeat(2)[1])]).reason is Reason.MALFORMED_RESPONSE


def test_no_response_to_acks_0() -> None:
    """A broker that sends one nevertheless is out of step."""
    script: Script = [("client", frames.produce(9, 1, 0)), ("broker", frames.produced(9, 1))]
    assert play(script).reason is Reason.MALFORMED_RESPONSE


def test_another_correlation_id() -> None:
    """It must be the oldest request's; even that of a later request is a fault."""
    pings = frames.heartbeat(1)[0] + frames.heartbeat(2)[0]
    relay = play([("client", pings), ("broker", frames.heartbeat(2)[1])])
    assert relay.reason is Reason.CORRELATION_MISMATCH
    assert "request 2" in relay.detail


def test_the_id_of_an_own_answer_is_not_the_brokers() -> None:
    """While an own answer waits, the broker cannot answer in its place."""
    script: Script = [("client", frames.heartbeat(1)[0] + own(2)), ("broker", frames.heartbeat(2)[1])]
    assert play(script).reason is Reason.CORRELATION_MISMATCH


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        (-(2**31), Reason.INVALID_FRAME_SIZE),
        (-1, Reason.INVALID_FRAME_SIZE),
        (0, Reason.INVALID_FRAME_SIZE),
        (3, Reason.INVALID_FRAME_SIZE),
        (KIB + 1, Reason.FRAME_TOO_LARGE),
        (2**31 - 1, Reason.FRAME_TOO_LARGE),
    ],
)
@pytest.mark.parametrize(("key", "version"), [(12, 3), (3, 12), (1, 17)])
def test_impossible_sizes(size: int, reason: Reason, key: int, version: int) -> None:
    """Refused by the size alone, whatever would be done with the response."""
    head = INT32.pack(size) + INT32.pack(1)
    relay = play(exchange(key, version, head), lambda: Relay(response_limit=KIB))
    assert (relay.reason, bytes(relay.client.data)) == (reason, b"")
    assert str(size) in relay.detail


def test_the_largest_response_is_let_through() -> None:
    """The limit is inclusive."""
    sent = frames.raw_response(12, 3, 1, bytes(KIB - 4))
    assert play(exchange(12, 3, sent), lambda: Relay(response_limit=KIB)).client.data == sent


def test_a_response_that_must_be_held_has_a_limit() -> None:
    """A larger Metadata is refused when its size is announced; what passes or streams is not held."""
    for key, version in ((12, 3), (1, 17)):
        sent = (
            frames.raw_response(12, 3, 1, bytes(2 * KIB)) if key == 12 else frames.fetched(17, 1, [(0, bytes(2 * KIB))])
        )
        assert play(exchange(key, version, sent), lambda: Relay(held_limit=KIB)).client.data == sent
    relay = Relay(held_limit=KIB)
    relay.feed("client", asked(3, 12, 1))
    relay.feed("broker", INT32.pack(KIB - 3) + INT32.pack(1))
    assert relay.reason is Reason.FRAME_TOO_LARGE
    assert "held" in relay.detail
    assert relay.responses.held_bytes == 0


def test_a_response_of_just_the_held_limit_is_held() -> None:
    """The limit is inclusive, and the size field counts."""
    plain = frames.response(3, 12, 1)
    padded = frames.response(3, 12, 1, {TAGS: [(99, bytes(KIB - len(plain) - 3))]})  # a tag and two bytes of size
    assert len(padded) == KIB
    assert play(exchange(3, 12, padded), lambda: Relay(held_limit=KIB)).client.data == padded


@pytest.mark.parametrize(("key", "version"), [(3, 12), (1, 17), (12, 3), (0, 12)])
def test_nothing_is_allocated_for_a_claimed_size(key: int, version: int) -> None:
    """If fifty megabytes are announced and some bytes sent, only some bytes are kept."""
    relay = Relay()
    relay.play(exchange(key, version, frames.response(key, version, 1)), whole)  # what is made once
    relay.feed("client", asked(key, version, 2))
    first = INT32.pack(50 << 20) + frames.response(key, version, 2)[4:30]
    tracemalloc.start()
    try:
        relay.feed("broker", first)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert relay.responses.under_way
    assert peak < 64 * KIB


def test_what_is_held_is_reported() -> None:
    """The head of a frame, and a frame that must be whole, are held; a body that passes is not."""
    relay = Relay()
    relay.feed("client", frames.heartbeat(1)[0] + asked(3, 12, 2))
    assert (relay.responses.held_bytes, relay.responses.under_way) == (0, False)
    relay.feed("broker", frames.heartbeat(1)[1][: HEAD_BYTES - 1])
    assert (relay.responses.held_bytes, relay.responses.under_way) == (HEAD_BYTES - 1, True)
    relay.feed("broker", frames.heartbeat(1)[1][HEAD_BYTES - 1 :] + frames.response(3, 12, 2)[:20])
    assert (relay.responses.held_bytes, relay.responses.under_way) == (20, True)
    relay.feed("broker", frames.response(3, 12, 2)[20:])
    assert (relay.responses.held_bytes, relay.responses.under_way) == (0, False)


def test_time_is_split_between_proxy_and_broker() -> None:
    """From sending to the first byte is the broker's time; before and after it, the proxy's."""
    relay = Relay()
    relay.responses.settle(0.5)
    relay.requests.feed(memoryview(asked(3, 12, 1)), 1.0)
    relay.requests.settle(1.5)
    sent = frames.response(3, 12, 1)
    relay.responses.feed(memoryview(sent[:10]), 4.0)
    relay.responses.settle(4.1)
    relay.responses.feed(memoryview(sent[10:]), 5.0)
    relay.responses.settle(5.25)
    counted = relay.cluster.counters.apis[3, 12]
    assert (counted.upstream.total, counted.proxy.total) == (2.5, 1.75)
    assert [sum(h.counts) for h in (counted.upstream, counted.proxy)] == [1, 1]
