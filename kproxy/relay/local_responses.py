# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""The proxy's own answers on a connection: at once, in their turn, later, or after asking the broker.

Each connection has one `LocalResponses`. The request flow hands it the outcome of each request that was held whole. The
response flow has it send each answer when its turn comes.
"""

from __future__ import annotations

from functools import partial
from struct import Struct
from typing import Final

from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import Deferred, Forward, Incremental
from kproxy.relay.broker_dialogue import BrokerDialogue, Decision
from kproxy.relay.flow import Outlet, Owner
from kproxy.relay.in_flight import Expected, InFlight

_CORRELATION_ID: Final = Struct(">8xi")
"""The correlation id, behind size, api key and version of a request."""


class LocalResponses:
    """Keeps each answer among the requests in flight until all responses before it are out."""

    __slots__ = ("_broker", "_client", "_in_flight", "_owner", "count", "waiting_bytes")

    def __init__(self, in_flight: InFlight, broker: Outlet, client: Outlet, owner: Owner) -> None:
        self._in_flight = in_flight
        self._broker = broker
        self._client = client
        self._owner = owner
        self.count = 0
        """How many of these answers are out."""
        self.waiting_bytes = 0
        """Of answers that are there and wait for their turn."""

    def decided(self, decision: Decision) -> None:
        """Carry out the decision on the youngest request in flight: send it on, or see to its answer."""
        expected = self._in_flight.last
        assert expected is not None
        if isinstance(decision, Forward):
            self._broker.send(decision.frame)
        elif isinstance(decision, BrokerDialogue):
            self.ask(expected, decision)
        elif isinstance(decision, Deferred) and decision.frame is None:
            self.park(expected, decision)
            if isinstance(decision, Incremental):
                self._owner.answered_here()
                self._owner.work(decision)
        else:
            assert decision.frame is not None
            expected.answer = decision.frame
            self.waiting_bytes += len(decision.frame)
            self._owner.answered_here()
            if len(self._in_flight) == 1:
                self.send_due()
            else:
                self._owner.unsteady()

    def ask(self, expected: Expected, dialogue: BrokerDialogue) -> None:
        """Send a dialogue's question; the broker's next response to `expected` answers it."""
        expected.answer = dialogue
        (expected.correlation_id,) = _CORRELATION_ID.unpack_from(dialogue.request)
        self._broker.send(dialogue.request)

    def park(self, expected: Expected, parked: Deferred) -> None:
        """Have the answer come later, from any task."""
        expected.answer = parked
        parked.wait(partial(self._resolved, parked))

    def _resolved(self, parked: Deferred) -> None:
        assert parked.frame is not None
        self.waiting_bytes += len(parked.frame)
        self._owner.resolved()

    def answer_in_flight(self, context: Context) -> None:
        """Answer requests in flight in place of a broker of an earlier epoch: all of them, or none.

        A JoinGroup, which may wait at its coordinator for minutes, can be answered in this way. A commit cannot: it may
        have been done.
        """
        owed = [expected for expected in self._in_flight if not isinstance(expected.answer, bytes)]
        answers = [_in_place_of_broker(expected) for expected in owed]
        if not answers or not all(answers) or not context.cluster.answers_in_flight(context):
            return
        for expected, answer in zip(owed, answers, strict=True):
            assert answer is not None
            expected.answer = answer
            self.waiting_bytes += len(answer)
        self.send_due()

    def abandon_parked(self) -> None:
        """Give up the answers that come later: the client has gone. What the broker owes is waited for and noted."""
        for expected in self._in_flight:
            answer = expected.answer
            if isinstance(answer, Deferred) and not isinstance(answer, Incremental) and answer.frame is None:
                expected.abandon()
                expected.answer = b""

    def send_due(self) -> None:
        """Send the answers that are there and have their turn."""
        in_flight = self._in_flight
        while (expected := in_flight.first) is not None:
            answer = expected.answer
            frame = answer.frame if isinstance(answer, Deferred) else answer
            if not isinstance(frame, bytes):
                return
            counters = in_flight.pop().route.counters
            self.waiting_bytes -= len(frame)
            counters.responses += 1
            counters.response_bytes += len(frame)
            self.count += 1
            if frame:
                self._client.send(frame)
            if isinstance(answer, Deferred) and answer.last is not None:
                self._owner.end_for(answer.last, answer.detail)


def _in_place_of_broker(expected: Expected) -> bytes | None:
    """Return the whole frame; None where the response must be the broker's, or comes from elsewhere."""
    route = expected.route
    make = None if expected.answer is not None else route.policy.stale_response
    return None if make is None else make(route.version, expected.correlation_id)
