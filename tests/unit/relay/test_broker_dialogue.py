"""Requests answered after the broker was asked: their turn, what waits behind them, and their end."""

from __future__ import annotations

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.protocol.outcomes import Answer, AskBroker
from kproxy.relay.broker_dialogue import BrokerDialogue, begun
from tests.unit.relay import frames
from tests.unit.relay.flows import KIB, Script, play, whole
from tests.unit.relay.own import (
    CONVERSE,
    ENDS_PARKED,
    STEP,
    Own,
    asked_broker,
    dialogue,
    park,
    parked_response,
    step_request,
    step_response,
)

ONE, TWO, THREE = (frames.heartbeat(number) for number in (1, 2, 3))


def sent(relay: Own) -> bytes:
    return bytes(relay.client.data)


def steps(number: int, count: int) -> Script:
    """The broker's responses in a dialogue."""
    return [("broker", step_response(number, step)) for step in range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_dialogue(count: int) -> None:
    """Each step in turn, with ids of its own; one answer in the end. The broker's requests are not counted."""
    relay = play([("client", dialogue(5, count)), *steps(5, count)], Own)
    assert bytes(relay.broker.data) == b"".join(step_request(5, step) for step in range(count))
    assert (sent(relay), list(relay.in_flight), relay.room.over) == (asked_broker(5, count), [], [5])
    counted = relay.cluster.counters.apis[CONVERSE, 1]
    assert (counted.requests, counted.responses) == (1, 1)
    assert counted.request_bytes == len(dialogue(5, count))
    assert counted.response_bytes == len(asked_broker(5, count))
    assert relay.cluster.counters.apis.keys() == {(CONVERSE, 1)}
    assert (relay.requests.count, relay.responses.count + relay.own.count) == (1, 1)


def test_what_comes_behind_a_dialogue_waits() -> None:
    """However much it is: it must not come between the steps. Then it goes on in order, a partial frame included."""
    behind = TWO[0] + frames.produce(9, 8, records=b"r" * KIB) + THREE[0][:10]
    relay = play([("client", ONE[0] + dialogue(5, 2) + behind), ("broker", ONE[1]), *steps(5, 1)], Own)
    assert bytes(relay.broker.data) == ONE[0] + step_request(5, 0) + step_request(5, 1)
    assert (relay.requests.asking_broker, relay.requests.held_bytes) == (True, len(behind))
    assert relay.requests.under_way
    relay.feed("broker", step_response(5, 1))
    assert (relay.requests.asking_broker, relay.requests.held_bytes) == (False, 10)
    relay.feed("client", THREE[0][10:])
    assert bytes(relay.broker.data) == ONE[0] + step_request(5, 0) + step_request(5, 1) + behind + THREE[0][10:]
    relay.feed("broker", TWO[1])
    assert sent(relay) == ONE[1] + asked_broker(5, 2) + TWO[1]


def test_dialogues_in_a_row() -> None:
    """One after the other, with others between; the second does not begin before the first is over."""
    script: Script = [
        ("client", dialogue(5, 2) + dialogue(6, 1) + ONE[0] + dialogue(7, 0) + dialogue(8, 1)),
        *steps(5, 2),
        *steps(6, 1),
        ("broker", ONE[1]),
        *steps(8, 1),
    ]
    relay = play(script, Own)
    answers = [asked_broker(5, 2), asked_broker(6, 1), ONE[1], asked_broker(7, 0), asked_broker(8, 1)]
    assert (sent(relay), relay.room.over) == (b"".join(answers), [5, 6, 7, 8])
    assert relay.cluster.counters.apis[CONVERSE, 1].responses == 4


def test_nothing_is_held_behind_a_dialogue_that_is_alone() -> None:
    """No frame is under way then, so that the connection can be ended."""
    relay = Own().play([("client", dialogue(5, 1))], whole)
    assert (relay.requests.asking_broker, relay.requests.under_way, relay.requests.held_bytes) == (True, False, 0)


def test_a_dialogue_behind_a_parked_answer() -> None:
    """The broker's responses to it wait with the rest."""
    relay = play([("client", park(4) + dialogue(5, 2) + ONE[0]), *steps(5, 1)], Own)
    assert (relay.responses.waiting, bytes(relay.broker.data), sent(relay)) == (True, step_request(5, 0), b"")
    relay.feed("answer", parked_response(4))
    assert bytes(relay.broker.data) == step_request(5, 0) + step_request(5, 1)
    relay.feed("broker", step_response(5, 1) + ONE[1])
    assert sent(relay) == parked_response(4) + asked_broker(5, 2) + ONE[1]


def test_the_time_of_a_dialogue() -> None:
    """One observation: the broker's time is that of all steps, the proxy's what is left."""
    relay = Own()
    request = dialogue(5, 2)
    relay.requests.feed(memoryview(request), 1.0)
    relay.requests.settle(2.0)
    for read, step in ((12.0, 0), (32.0, 1)):
        relay.responses.feed(memoryview(step_response(5, step)), read)
    relay.responses.settle(35.0)
    counted = relay.cluster.counters.apis[CONVERSE, 1]
    assert (sum(counted.upstream.counts), sum(counted.proxy.counts)) == (1, 1)
    assert (counted.upstream.total, counted.proxy.total) == pytest.approx((30.0, 4.0))


def test_requests_that_waited_are_timed_from_when_they_went_on() -> None:
    """Their time in the proxy is the proxy's; the broker's begins after the dialogue."""
    relay = Own()
    relay.requests.feed(memoryview(dialogue(5, 1) + ONE[0]), 1.0)
    relay.requests.settle(2.0)
    relay.responses.feed(memoryview(step_response(5, 0)), 10.0)
    relay.responses.settle(11.0)
    relay.requests.feed(memoryview(TWO[0]), 12.0)
    relay.requests.settle(12.5)
    assert [(e.received, e.sent) for e in relay.in_flight] == [(10.0, 10.0), (12.0, 12.5)]


def test_a_response_too_large_to_be_held() -> None:
    """The responses of a dialogue are held whole, however the API is treated otherwise."""
    relay = Own(held_limit=100)
    relay.play([("client", dialogue(5, 1)), ("broker", step_response(5, 0, 200)[:90])], whole)
    assert relay.reason is Reason.FRAME_TOO_LARGE


@pytest.mark.parametrize("wrong", [step_response(6, 0), step_response(5, 1), frames.raw_response(STEP, 1, 77, b"")])
def test_another_response_than_the_one_that_is_due(wrong: bytes) -> None:
    """It is the broker's fault, as always."""
    relay = play([("client", dialogue(5, 2)), ("broker", wrong)], Own)
    assert relay.reason is Reason.CORRELATION_MISMATCH
    relay.end()
    assert relay.room.over == [5]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Fault(Reason.REFUSED_API, "not for you"), Reason.REFUSED_API),
        (MalformedMessageError("no such field"), Reason.MALFORMED_RESPONSE),
    ],
)
def test_what_a_dialogue_raises_ends_the_connection(error: Exception, reason: Reason) -> None:
    """A response that the room cannot read is the broker's fault."""
    relay = Own()
    relay.room.fault = error
    relay.play([("client", dialogue(5, 1) + ONE[0]), *steps(5, 1)], whole)
    assert (relay.reason, sent(relay), relay.room.over) == (reason, b"", [5])


def test_what_was_held_behind_a_dialogue_may_be_wrong() -> None:
    """It is the client's fault, though the broker's bytes have led to it."""
    broken = frames.raw_request(18, 3, 9, b"\xff" * 6)
    relay = Own().play([("client", dialogue(5, 1) + broken), *steps(5, 1)], whole)
    assert (relay.reason, sent(relay)) == (Reason.MALFORMED_REQUEST, asked_broker(5, 1))
    relay = Own().play([("client", dialogue(5, 1) + b"GET / HTTP/1.1\r\n\r\n"), *steps(5, 1)], whole)
    assert relay.reason is Reason.HTTP_ON_KAFKA_PORT


def test_an_id_twice_in_flight() -> None:
    """The dialogue begins behind the request before it, and gets its own answer."""
    ping, pong = frames.heartbeat(5)
    relay = Own().play([("client", ping + dialogue(5, 1)), ("broker", pong), *steps(5, 1)], whole)
    assert (relay.reason, relay.room.over) == (None, [5])
    assert sent(relay) == pong + asked_broker(5, 1)
    assert len(relay.in_flight) == 0


def test_the_end_of_a_connection() -> None:
    """A dialogue is closed once; one that is over is not in flight any more."""
    relay = Own()
    relay.feed("client", dialogue(4, 0) + dialogue(5, 2))
    relay.end()
    relay.end()
    assert relay.room.over == [4, 5]


def test_steps_and_an_answer() -> None:
    """None begins; None comes back as long as the broker is to be asked."""
    relay = Own()
    talk = BrokerDialogue(relay.room._steps(5, 1), relay.requests)
    assert (talk.step(None), talk.request) == (None, step_request(5, 0))
    assert talk.step(step_response(5, 0)[4:]) == Answer(asked_broker(5, 1))


def test_an_answer_that_is_to_come() -> None:
    """The steps return it."""
    relay = Own()
    assert begun(AskBroker(relay.room._steps(5, ENDS_PARKED)), relay.requests) is relay.room.parked[5]
