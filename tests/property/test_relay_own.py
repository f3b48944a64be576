"""Dialogues and parked answers among any other traffic: every answer once, in order, and nothing left behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from kproxy.protocol.outcomes import Incremental
from kproxy.relay.in_flight import MAX_IN_FLIGHT
from kproxy.wire.primitives import INT32
from tests.unit.relay import frames
from tests.unit.relay.flows import whole
from tests.unit.relay.own import (
    CONVERSE,
    ENDS_IN_STEPS,
    PARK,
    STEP,
    Own,
    asked_broker,
    dialogue,
    park,
    parked_response,
    step_request,
    step_response,
    work,
)

_API_VERSIONS = 18
KINDS = ["pass", "held", "acks 0", "own", "converse", "converse", "park", "park", "at once", "work", "both"]
_IN_STEPS = ["pass", "converse", "work", "both", "both"]
"""Few kinds, so that an answer in steps is often held behind a dialogue."""


@dataclass(frozen=True)
class Request:
    """What the client sends, what the broker gets and answers, and what the client gets."""

    sent: bytes
    asked: tuple[bytes, ...]
    answered: tuple[bytes, ...]
    got: bytes
    parked: bool = False


@st.composite
def requests(draw: st.DrawFn, number: int, kinds: list[str]) -> Request:
    kind = draw(st.sampled_from(kinds))
    if kind in {"converse", "both"}:
        count, size = draw(st.integers(0, 3)), draw(st.sampled_from([1, 5, 300]))
        asked = tuple(step_request(number, step) for step in range(count))
        answered = tuple(step_response(number, step, size) for step in range(count))
        both = kind == "both"
        answer = parked_response(number) if both else asked_broker(number, count, size)
        return Request(dialogue(number, count | ENDS_IN_STEPS * both), asked, answered, answer, parked=both)
    if kind == "work":
        return Request(work(number, draw(st.integers(0, 3))), (), (), parked_response(number), parked=True)
    if kind in {"park", "at once"}:
        at_once = kind == "at once"
        return Request(park(number, at_once=at_once), (), (), parked_response(number), parked=not at_once)
    if kind == "own":
        sent = frames.raw_request(_API_VERSIONS, 99, number)
        got = Own().play([("client", sent)], whole).client.data
        return Request(sent, (), (), bytes(got))
    if kind == "acks 0":
        sent = frames.produce(9, number, 0, b"r" * draw(st.integers(0, 500)))
        return Request(sent, (sent,), (), b"")
    if kind == "held":
        sent, said = frames.request(3, 12, number), frames.response(3, 12, number)
    else:
        sent = frames.request(1, 4, number)
        said = frames.fetched(4, number, [(0, b"r" * draw(st.integers(0, 2000)))])
    return Request(sent, (sent,), (said,), said)


@st.composite
def scripts(draw: st.DrawFn, kinds: list[str]) -> list[Request]:
    return [draw(requests(number, kinds)) for number in range(1, draw(st.integers(1, 7)) + 1)]


@dataclass
class Play:
    """One connection with a broker that answers each request at once, in order."""

    script: list[Request]
    relay: Own = field(default_factory=Own)
    heard: int = 0
    said: int = 0
    sent: int = 0

    def __post_init__(self) -> None:
        self.requests = b"".join(one.sent for one in self.script)
        self.expected = b"".join(one.got for one in self.script)
        answers = {
            asked: answered for one in self.script for asked, answered in zip(one.asked, one.answered, strict=False)
        }
        self.answers = answers
        self.responses = b""

    def hear(self) -> None:
        """Answer what the broker has whole by now."""
        data = self.relay.broker.data
        while len(data) >= self.heard + 4 and len(data) >= (end := self.heard + 4 + self.size_at(self.heard)):
            self.responses += self.answers.get(bytes(data[self.heard : end]), b"")
            self.heard = end

    def size_at(self, pos: int) -> int:
        size: int = INT32.unpack_from(self.relay.broker.data, pos)[0]
        return size

    def unresolved(self) -> list[int]:
        return [number for number, one in self.relay.room.parked.items() if one.frame is None]

    def client(self, count: int) -> None:
        self.relay.feed("client", self.requests[self.sent : self.sent + count])
        self.sent = min(self.sent + count, len(self.requests))

    def broker(self, count: int) -> None:
        self.relay.feed("broker", self.responses[self.said : self.said + count])
        self.said = min(self.said + count, len(self.responses))

    def moves(self, *, paused: bool) -> Iterator[str]:
        """Yield the sides that can act; with `paused`, as a connection reads, no side that waits for another."""
        if self.sent < len(self.requests) and not (paused and self.relay.requests.asking_broker):
            yield "client"
        if self.said < len(self.responses) and not (paused and self.relay.responses.waiting):
            yield "broker"
        if self.unresolved():
            yield "answer"

    def run(self, data: st.DataObject, *, paused: bool, steps: int = 1 << 30) -> None:
        """Let everything happen in any order, for so many steps or until nothing is left to do."""
        while steps and (moves := sorted(self.moves(paused=paused))):
            steps -= 1
            self.act(data.draw(st.sampled_from(moves)), data)
            self.hear()
            assert self.relay.reason is None, self.relay.detail
            assert self.expected.startswith(bytes(self.relay.client.data))

    def act(self, move: str, data: st.DataObject) -> None:
        """Make one of the moves."""
        match move:
            case "client":
                self.client(data.draw(st.sampled_from([1, 7, 40, 400, 9000])))
            case "broker":
                self.broker(data.draw(st.sampled_from([1, 5, 30, 300, 9000])))
            case _:
                number = data.draw(st.sampled_from(self.unresolved()))
                self.relay.feed("answer", parked_response(number))


@given(scripts(KINDS), st.booleans(), st.data())
@settings(max_examples=200, deadline=None)
def test_every_request_has_its_answer_in_its_order(script: list[Request], paused: bool, data: st.DataObject) -> None:
    """For any order of pieces and answers: the same bytes to both sides, each request counted once, nothing held."""
    check_answered(Play(script), paused, data)


@given(scripts(_IN_STEPS), st.booleans(), st.data())
@settings(max_examples=200, deadline=None)
def test_answers_in_steps_around_dialogues(script: list[Request], paused: bool, data: st.DataObject) -> None:
    """The same: no answer is lost that arrives with the last step of the one before."""
    check_answered(Play(script), paused, data)


def check_answered(play: Play, paused: bool, data: st.DataObject) -> None:
    """Let everything happen, and assert that both sides have what they should, and that nothing is left."""
    script = play.script
    play.run(data, paused=paused)
    relay = play.relay
    assert bytes(relay.client.data) == play.expected
    assert bytes(relay.broker.data) == b"".join(asked for one in script for asked in one.asked)
    assert not relay.deferred_work.waiting
    assert (list(relay.in_flight), relay.requests.asking_broker, relay.responses.waiting) == ([], False, False)
    assert (relay.requests.held_bytes, relay.responses.held_bytes, relay.room.abandoned) == (0, 0, [])
    assert not relay.requests.under_way
    assert not relay.responses.under_way
    _counted_once(script, relay)


def _counted_once(script: list[Request], relay: Own) -> None:
    apis = relay.cluster.counters.apis
    assert sum(api.requests for api in apis.values()) == len(script)
    assert sum(api.request_bytes for api in apis.values()) == sum(len(one.sent) for one in script)
    assert sum(api.responses for api in apis.values()) == sum(bool(one.got) for one in script)
    assert sum(api.response_bytes for api in apis.values()) == len(relay.client.data)
    assert (STEP, 1) not in apis
    timed = sum(bool(one.answered) and not one.parked for one in script)
    for histograms in ([api.upstream for api in apis.values()], [api.proxy for api in apis.values()]):
        assert sum(sum(histogram.counts) for histogram in histograms) == timed
        assert all(histogram.total >= -1e-9 for histogram in histograms)


@given(scripts(KINDS), st.integers(0, 60), st.booleans(), st.data())
@settings(max_examples=150, deadline=None)
def test_an_end_at_any_moment(script: list[Request], steps: int, paused: bool, data: st.DataObject) -> None:
    """Dialogues that have begun are over, missing answers are abandoned, each once; late answers go nowhere."""
    play = Play(script)
    play.run(data, paused=paused, steps=steps)
    relay, unresolved = play.relay, play.unresolved()
    begun = relay.cluster.counters.apis[CONVERSE, 1].requests if (CONVERSE, 1) in relay.cluster.counters.apis else 0
    relay.end()
    abandoned = [number for number in unresolved if not isinstance(relay.room.parked[number], Incremental)]
    assert sorted(relay.room.abandoned) == sorted(abandoned)
    assert len(relay.room.over) == len(set(relay.room.over)) == begun
    sent = bytes(relay.client.data)
    for number in unresolved:
        relay.feed("answer", parked_response(number))
    assert (bytes(relay.client.data), play.unresolved()) == (sent, unresolved)


@given(st.integers(1, 40), st.integers(0, 40), st.randoms(use_true_random=False))
def test_many_answers_are_parked(parked: int, asked: int, dice: Random) -> None:
    """Answers may come in any order; the client gets them, and all others, in the order of its requests."""
    relay = Own()
    script = [park(number) for number in range(parked)] + [frames.heartbeat(parked + n)[0] for n in range(asked)]
    order = list(range(parked))
    dice.shuffle(order)
    relay.feed("client", b"".join(script))
    relay.feed("broker", b"".join(frames.heartbeat(parked + n)[1] for n in range(asked)))
    for number in order:
        relay.feed("answer", parked_response(number))
    got = [INT32.unpack_from(frame)[0] for frame in frames.split(bytes(relay.client.data))]
    assert got == list(range(parked + asked))
    assert relay.cluster.counters.apis[PARK, 0].responses == parked < MAX_IN_FLIGHT
