"""A client's socket and its broker's: who is read, who waits for whom, what is owed, and when it is over."""

from __future__ import annotations

import time
from abc import ABCMeta, abstractmethod
from typing import TYPE_CHECKING, Final

import structlog

from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import Table
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.relay.endpoint import Endpoint
from kproxy.relay.in_flight import MAX_IN_FLIGHT, InFlight
from kproxy.relay.local_responses import OwnAnswers
from kproxy.relay.requests import RequestFlow
from kproxy.relay.responses import ResponseFlow

if TYPE_CHECKING:
    from kproxy.config import Limits
    from kproxy.protocol.outcomes import Stepwise

_clock: Final = time.monotonic

log = structlog.get_logger("kproxy.relay")


class Sides(metaclass=ABCMeta):
    """`progress` is when (seconds, monotonic) bytes last moved.

    `end` is set once a side has said its last: the connection closes for that reason when all that is owed is out.
    `parting` is the reason why it takes no more than the request under way.
    """

    __slots__ = (
        "_steady",
        "broker",
        "client",
        "closed",
        "context",
        "end",
        "id",
        "in_flight",
        "own",
        "parting",
        "progress",
        "requests",
        "responses",
    )

    def __init__(
        self, number: int, context: Context, table: Table, limits: Limits, client: Endpoint, broker: Endpoint
    ) -> None:
        self.id = number
        self.context = context
        self.progress = _clock()
        self.in_flight = InFlight()
        self.client = client
        self.broker = broker
        self.own = OwnAnswers(self.in_flight, broker, client, self)
        self.requests = RequestFlow(table, self.in_flight, context, broker, self.own, limits.max_request_bytes, self)
        self.responses = ResponseFlow(
            self.in_flight, context, client, self.own, limits.max_response_bytes, limits.max_held_bytes, self
        )
        self.closed = False
        self.parting: Reason | None = None
        self.end: Reason | None = None
        self._steady = True

    @abstractmethod
    def resolved(self) -> None:
        """As `Owner`."""

    @abstractmethod
    def work(self, stepwise: Stepwise) -> None:
        """As `Owner`."""

    @abstractmethod
    def _leave(self, reason: Reason, detail: str) -> None:
        """Give both sockets up."""

    def unsteady(self) -> None:
        """As `Owner`."""
        self._steady = False

    def answered_here(self) -> None:
        """As `Owner`."""
        self.client.costly = True

    def _catch_up(self) -> None:
        """Send a parked answer that is there and due, and what has waited behind it."""
        before, now = self.answered, _clock()
        self.responses.go_on(now)
        if self.answered > before:
            self.progress = now
        self.responses.settle(_clock())

    def _dismiss(self) -> None:
        """Answer for a broker that is of a topology before; who has just got an answer is given time to read it."""
        before = self.answered
        self.own.dismiss(self.context)
        if self.answered > before:
            self.progress = _clock()

    def _ended(self, source: Endpoint) -> None:
        flow = self.requests if source.is_client else self.responses
        if flow.under_way:
            reason = Reason.TRUNCATED_REQUEST if source.is_client else Reason.TRUNCATED_RESPONSE
            raise Fault(reason, "the connection ended in mid-frame")
        if source.is_client:
            # Half-close: responses to what the client sent still go to it; the broker would drop them on an early FIN.
            self.end = Reason.CLIENT_CLOSED
        else:
            self.end = Reason.BROKER_CLOSED
            self._abandon()
        source.pause()
        self._balance()

    @property
    def answered(self) -> int:
        """Requests whose response is out, the broker's or the proxy's own."""
        return self.responses.count + self.own.count

    @property
    def stalled(self) -> bool:
        """Whether a peer that is read owes the rest of a frame.

        One that takes nothing owes nothing: a consumer may leave a response half read while it works on another.
        """
        of_request = self.requests.under_way and self.client.reading and not self.broker.blocked
        return of_request or (self.responses.under_way and self.broker.reading and not self.client.blocked)

    def _balance(self) -> None:
        """Read from each side what the other takes; close when all that was owed is out."""
        client, broker = self.client, self.broker
        due = self.in_flight.first
        if due is not None and due.answer is not None:
            self._catch_up()
        if self.end is None:
            self.end = self.requests.last or (None if self.requests.under_way else self.parting)
        if self.end is not None and self.in_flight and self.context.stale and not self.responses.under_way:
            self._dismiss()
        if self.end is not None and not self.in_flight and not client.blocked and not broker.blocked:
            self.close(self.end)
            return
        conversing, waiting = self.requests.conversing, self.responses.waiting
        takes_requests = not client.blocked and not broker.blocked and self.in_flight.count <= MAX_IN_FLIGHT
        self._read(client, self.end is None and takes_requests and not conversing, "" if conversing else "upstream")
        owed = self.end is None or bool(self.in_flight)
        takes_responses = owed and self.end is not Reason.BROKER_CLOSED and not client.blocked and not waiting
        self._read(broker, takes_responses, "downstream")
        self._steady = client.reading and broker.reading and self.parting is None

    def _read(self, endpoint: Endpoint, wanted: bool, side: str) -> None:
        if wanted == endpoint.reading:
            return
        if wanted:
            endpoint.resume()
            return
        endpoint.pause()
        if side and self.end is None:
            self.context.backend.counters.pauses[side] += 1

    @property
    def paused(self) -> tuple[str, ...]:
        """The directions that backpressure holds: "upstream" when requests are not read, "downstream" responses."""
        if self.end is not None:
            return ()
        upstream = not self.client.reading and not self.requests.conversing
        held = (("upstream", upstream), ("downstream", not self.broker.reading))
        return tuple(side for side, is_held in held if is_held)

    @property
    def held_bytes(self) -> int:
        """What the process holds for a peer that lags and for frames that must be whole."""
        flows = self.requests.held_bytes + self.responses.held_bytes
        return flows if self._steady else flows + self.client.pending_bytes + self.broker.pending_bytes

    def close(self, reason: Reason, detail: str = "") -> None:
        """Close both sides now; the pump counts and logs why."""
        if not self.closed:
            self.closed = True
            self.requests.note()
            self._leave(reason, detail)
            self._abandon()

    def _abandon(self) -> None:
        """Nothing in flight is answered any more: conversations end, and who parked an answer is told."""
        abandoned = list(self.in_flight)
        self.in_flight.clear()
        for expected in abandoned:
            try:
                expected.abandon()
            except Exception as error:  # one room's failure is never another's
                log.error("internal error", connection=self.id, exc_info=error)
