"""Parked answers: when they are sent, in which turn, and what is notified when they are no longer wanted."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

import pytest

from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.protocol.outcomes import Deferred, Incremental
from tests.unit.relay import frames
from tests.unit.relay.flows import Cut, Script, bytewise, play, whole
from tests.unit.relay.own import PARK, Own, asked_broker, dialogue, park, parked_response, refused, step_response

ONE, TWO, THREE = (frames.heartbeat(number) for number in (1, 2, 3))
API_VERSIONS = 18


def sent(relay: Own) -> bytes:
    return bytes(relay.client.data)


def test_the_first_answer_counts() -> None:
    """The waiting side is notified once; nothing is notified before it waits, or after."""
    calls: list[str] = []
    parked, early = Deferred(lambda: calls.append("abandoned")), Deferred()
    early.resolve(b"a")
    early.abandon()
    parked.wait(lambda: calls.append("resolved"))
    for frame in (b"a", b"b"):
        parked.resolve(frame)
    parked.abandon()
    assert (parked.frame, early.frame, calls) == (b"a", b"a", ["resolved"])


def test_nobody_waits_any_more() -> None:
    """The room is notified once; an answer that comes after that is not kept."""
    calls: list[str] = []
    parked = Deferred(lambda: calls.append("abandoned"))
    parked.wait(lambda: calls.append("resolved"))
    parked.abandon()
    parked.abandon()
    parked.resolve(b"late")
    assert (parked.frame, calls) == (None, ["abandoned"])


def test_an_answer_in_steps() -> None:
    """One step at a time; the last one resolves the answer, whether it is waited for or not."""
    taken: list[int] = []

    def steps() -> Generator[None, None, bytes]:
        for step in range(3):
            taken.append(step)
            yield
        return b"worked out"

    calls: list[str] = []
    stepwise, left, at_once = (Incremental(steps()) for _ in range(3))
    stepwise.wait(lambda: calls.append("resolved"))
    for count in range(1, 5):
        assert not stepwise.done
        stepwise.step()
        assert len(taken) == min(count, 3)
    assert (stepwise.done, stepwise.frame, calls) == (True, b"worked out", ["resolved"])
    left.step()
    left.abandon()
    left.finish()
    at_once.finish()
    at_once.finish()
    assert (left.done, left.frame, at_once.frame, len(taken)) == (True, None, b"worked out", 9)


def test_a_step_that_raises_is_the_last() -> None:
    """There is no answer then."""

    def steps() -> Generator[None, None, bytes]:
        yield
        raise ZeroDivisionError

    stepwise = Incremental(steps())
    with pytest.raises(ZeroDivisionError):
        stepwise.finish()
    stepwise.finish()
    assert (stepwise.done, stepwise.frame) == (True, None)


def test_a_parked_answer_alone() -> None:
    """The broker gets nothing; the answer is counted once, with both sizes, and in no latency: no broker was asked."""
    relay = play([("client", park(5)), ("answer", parked_response(5))], Own)
    assert (sent(relay), bytes(relay.broker.data), list(relay.in_flight)) == (parked_response(5), b"", [])
    counted = relay.cluster.counters.apis[PARK, 0]
    assert (counted.requests, counted.responses) == (1, 1)
    assert (counted.request_bytes, counted.response_bytes) == (len(park(5)), len(parked_response(5)))
    assert not any(counted.proxy.counts) and not any(counted.upstream.counts)  # noqa: PT018 (one statement)


def test_a_parked_answer_that_is_there_at_once() -> None:
    """It is sent like any answer of the proxy's own: at once, or in its turn."""
    relay = play([("client", park(5, at_once=True))], Own)
    assert sent(relay) == parked_response(5)
    script: Script = [("client", ONE[0] + park(5, at_once=True) + TWO[0]), ("broker", ONE[1] + TWO[1])]
    assert sent(play(script, Own)) == ONE[1] + parked_response(5) + TWO[1]


def test_the_client_goes_on_while_an_answer_is_parked() -> None:
    """The client's requests go to the broker at once; the broker's responses wait, and are held as they came."""
    relay = play([("client", ONE[0] + park(5) + TWO[0] + THREE[0]), ("broker", ONE[1] + TWO[1] + THREE[1])], Own)
    assert bytes(relay.broker.data) == ONE[0] + TWO[0] + THREE[0]
    assert sent(relay) == ONE[1]
    assert (relay.responses.waiting, relay.responses.held_bytes) == (True, len(TWO[1] + THREE[1]))
    relay.feed("answer", parked_response(5))
    assert sent(relay) == ONE[1] + parked_response(5) + TWO[1] + THREE[1]
    assert (relay.responses.waiting, relay.responses.held_bytes, relay.responses.under_way) == (False, 0, False)


def test_an_answer_before_its_turn_waits_for_it() -> None:
    """Earlier responses go first, the broker's and other answers."""
    script: Script = [
        ("client", ONE[0] + park(5) + frames.raw_request(API_VERSIONS, 99, 6) + TWO[0] + park(7)),
        ("answer", parked_response(7)),
        ("answer", parked_response(5)),
        ("broker", ONE[1] + TWO[1]),
    ]
    relay = play(script, Own)
    got = [int.from_bytes(one[:4], "big") for one in frames.split(sent(relay))]
    assert got == [1, 5, 6, 2, 7]


def test_several_answers_are_parked() -> None:
    """Each response waits for all before it; the bytes held are looked at again as often as needed."""
    script: Script = [
        ("client", park(5) + ONE[0] + park(6) + TWO[0]),
        ("broker", ONE[1] + TWO[1]),
        ("answer", parked_response(5)),
    ]
    relay = play(script, Own)
    assert (sent(relay), relay.responses.waiting) == (parked_response(5) + ONE[1], True)
    relay.feed("answer", parked_response(6))
    assert sent(relay) == parked_response(5) + ONE[1] + parked_response(6) + TWO[1]


@pytest.mark.parametrize("cut", [whole, bytewise])
def test_a_response_that_has_begun_when_the_answer_comes(cut: Cut) -> None:
    """Its first bytes have waited; its rest completes it, at whatever byte the answer comes."""
    for at in range(len(ONE[1])):
        relay = Own()
        relay.feed("client", park(5) + ONE[0])
        for piece in cut(ONE[1][:at]):
            relay.feed("broker", piece)
        relay.feed("answer", parked_response(5))
        relay.feed("broker", ONE[1][at:])
        assert (sent(relay), relay.reason) == (parked_response(5) + ONE[1], None)
        assert not relay.responses.under_way


def test_a_large_response_behind_a_parked_answer() -> None:
    """It streams on from the point where it was held."""
    fetch, fetched = frames.request(1, 12, 1), frames.fetched(12, 1, [(0, b"r" * 3000)])
    for at in (8, 9, 60, 2000, len(fetched)):
        relay = Own()
        relay.feed("client", park(5) + fetch)
        relay.feed("broker", fetched[:at])
        assert relay.responses.waiting
        relay.feed("answer", parked_response(5))
        relay.feed("broker", fetched[at:])
        assert sent(relay) == parked_response(5) + fetched


def test_what_the_broker_says_behind_a_parked_answer_may_be_wrong() -> None:
    """It is found when its turn comes, and is the broker's fault, whichever side sent the last bytes."""
    for wrong, reason in (
        (TWO[1], Reason.CORRELATION_MISMATCH),
        (frames.raw_response(3, 12, 1, b"\0"), Reason.MALFORMED_RESPONSE),
    ):
        relay = Own()
        relay.feed("client", park(5) + frames.request(3, 12, 1))
        relay.feed("broker", wrong)
        reasons = [relay.reason]
        relay.feed("answer", parked_response(5))
        assert ([*reasons, relay.reason], sent(relay)) == ([None, reason], parked_response(5))


def test_a_response_with_the_id_of_a_parked_answer() -> None:
    """The broker was not asked, so the response waits like any other, and is then a mismatch."""
    relay = Own().play([("client", park(5) + ONE[0]), ("broker", frames.heartbeat(5)[1])], whole)
    assert (relay.reason, sent(relay)) == (None, b"")
    relay.feed("answer", parked_response(5))
    assert relay.reason is Reason.CORRELATION_MISMATCH


def test_an_id_twice_in_flight() -> None:
    """Each has its own answer, which the room is told of when the connection ends before."""
    relay = Own().play([("client", park(5) + park(5))], whole)
    assert (relay.reason, relay.room.abandoned) == (None, [])
    relay.end()
    assert relay.room.abandoned == [5, 5]


def resolved_within(relay: Own, number: int) -> None:
    """Resolve the first parked answer while the request `number` is handled."""
    del number
    relay.feed("answer", parked_response(5))


def test_an_answer_that_a_later_request_brings() -> None:
    """Nothing is sent while another request is being handled, and the order is kept."""
    for late in (park(6, at_once=True), park(6), dialogue(6, 0), dialogue(6, 1)):
        relay = Own()
        relay.feed("client", park(5) + ONE[0])
        relay.feed("broker", ONE[1])
        relay.room.within = partial(resolved_within, relay)
        relay.feed("client", late + TWO[0])
        assert sent(relay).startswith(parked_response(5) + ONE[1])
        relay.room.parked.get(6, Deferred()).resolve(parked_response(6))
        relay.feed("broker", (step_response(6, 0) if late == dialogue(6, 1) else b"") + TWO[1])
        answer = {dialogue(6, 0): asked_broker(6, 0), dialogue(6, 1): asked_broker(6, 1)}
        assert sent(relay) == parked_response(5) + ONE[1] + answer.get(late, parked_response(6)) + TWO[1]
        assert relay.reason is None


def test_a_room_that_refuses() -> None:
    """Nothing is parked, and nothing but the end is counted."""
    relay = Own()
    relay.room.within = refused(Fault(Reason.REFUSED_API, "switched off", PARK))
    relay.feed("client", park(5))
    assert (relay.reason, list(relay.in_flight), sent(relay)) == (Reason.REFUSED_API, [], b"")


def test_the_end_of_a_connection() -> None:
    """Rooms that have not answered are notified, others not; the proxy's own answers that waited are dropped."""
    relay = Own()
    relay.feed("client", ONE[0] + park(5) + park(6) + frames.raw_request(API_VERSIONS, 99, 7))
    relay.feed("answer", parked_response(5))
    relay.end()
    relay.feed("answer", parked_response(6))
    assert (relay.room.abandoned, sent(relay)) == ([6], b"")
