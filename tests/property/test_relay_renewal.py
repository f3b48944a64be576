"""kproxy's own questions at any moment among any other traffic: each between two requests, and for no client."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from kproxy.observe.counters import ApiCounters
from kproxy.protocol.api_table import PASS_UNCHANGED, Route
from kproxy.protocol.outcomes import Incremental, Steps
from kproxy.relay.broker_dialogue import BrokerDialogue
from kproxy.relay.in_flight import Expected
from kproxy.wire.apis import APIS
from tests.property.test_relay_own import KINDS, Play, Request, check_answered, scripts
from tests.unit.relay import frames

_KEY = 17
"""No client's request in these scripts is of this API."""
_ROUTE = Route(APIS[_KEY], 1, PASS_UNCHANGED, ApiCounters(_KEY, 1))


@dataclass
class Renewed(Play):
    """A connection on which kproxy authenticates again: up to `logins` times, with so many `questions` each."""

    logins: int = 0
    questions: int = 0
    left: int = 0
    """Questions of the present login that are to be asked."""
    waits: bool = False
    """The broker has not answered the last one."""
    begun: bool = False
    """The broker has been asked, and takes no other request until the last answer."""

    def hear(self) -> None:
        """Answer what the broker has whole by now; kproxy's questions are taken out of it."""
        data = self.relay.broker.data
        while len(data) >= self.heard + 4 and len(data) >= (end := self.heard + 4 + self.size_at(self.heard)):
            sent = bytes(data[self.heard : end])
            if sent[4:6] == _KEY.to_bytes(2, "big"):
                del data[self.heard : end]
                self.responses += frames.raw_response(_KEY, 1, int.from_bytes(sent[8:12], "big"), b"for kproxy")
                self.begun = True
            else:
                assert not self.begun, "a request came between kproxy's questions"
                self.responses += self.answers.get(sent, b"")
                self.heard = end

    def moves(self, *, paused: bool) -> Iterator[str]:
        """As the base; with `paused`, the client is not read while kproxy has its turn."""
        requests = self.relay.requests
        for move in super().moves(paused=paused):
            if not (move == "client" and paused and requests.suspended and not requests.under_way):
                yield move
        if self.logins and not requests.suspended:
            yield "begin"
        if requests.suspended and not self.waits and (self.begun or requests.between):
            yield "go on"

    def act(self, move: str, data: st.DataObject) -> None:
        """As the base, and let kproxy begin, ask, and end."""
        requests = self.relay.requests
        if move == "begin":
            self.logins, self.left, requests.suspended = self.logins - 1, self.questions, True
        elif move == "go on" and self.left:
            self._ask()
        elif move == "go on":
            self.begun = requests.suspended = False
            self.relay.resolved()
        else:
            super().act(move, data)

    def _ask(self) -> None:
        number = 1  # as the client's first request may have, and kproxy's question before
        dialogue = BrokerDialogue(self._steps(frames.raw_request(_KEY, 1, number, b"of kproxy")), self, own=True)
        dialogue.step(None)
        expected = Expected(number, _ROUTE, self.relay.now)
        self.relay.in_flight.append(expected)
        self.left, self.waits = self.left - 1, True
        self.relay.own.ask(expected, dialogue)

    def _steps(self, asked: bytes) -> Steps:
        answer = yield asked
        assert answer[4:] == b"for kproxy"
        self.waits = False
        return b""

    def go_on(self, now: float) -> None:
        """As `Waiting`."""

    def wait_for(self, answer: Incremental) -> None:
        """As `Waiting`."""


@given(scripts(KINDS), st.integers(1, 3), st.integers(1, 3), st.booleans(), st.data())
@settings(max_examples=300, deadline=None)
def test_kproxys_own_questions(
    script: list[Request], logins: int, questions: int, paused: bool, data: st.DataObject
) -> None:
    """For any order of pieces, answers and questions: both sides have the same bytes as without kproxy's."""
    play = Renewed(script, logins=logins, questions=questions)
    check_answered(play, paused, data)
    assert (play.logins, play.left, play.waits) == (0, 0, False)
