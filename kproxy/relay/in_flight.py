# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""The requests of one connection that wait for their response, in the order in which the client sent them.

Kafka answers in that order. The request flow appends a request once it is read; the response flow takes it out when its
response goes to the client, whether the broker or the proxy answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kproxy.protocol.api_table import Route
    from kproxy.protocol.outcomes import Deferred
    from kproxy.relay.broker_dialogue import BrokerDialogue

MAX_IN_FLIGHT: Final = 1000
"""The most requests of one connection that may wait; beyond it the client is not read. Clients default to 5."""


class Expected:
    """A response that the client waits for; times are seconds on the monotonic clock."""

    __slots__ = ("answer", "behind", "correlation_id", "first_byte", "received", "route", "sent")

    def __init__(self, correlation_id: int, route: Route, received: float) -> None:
        self.correlation_id = correlation_id
        """While the proxy asks the broker first, the id of the question that the broker has at present."""
        self.route = route
        self.received = received
        self.sent = received
        """When the last of it was sent to the broker."""
        self.first_byte = received
        """When the first byte of the broker's response came."""
        self.answer: bytes | Deferred | BrokerDialogue | None = None
        """None while the broker is to answer. Otherwise the proxy's own answer, or what will make it."""
        self.behind: Expected | None = None
        """The next entry of the queue."""

    def abandon(self) -> None:
        """Notify the answer's source that the connection has ended."""
        if self.answer is not None and not isinstance(self.answer, bytes):
            self.answer.abandon()


class InFlight:
    """A queue that is linked through its entries: it mostly holds one, and mypyc makes each link a plain field."""

    __slots__ = ("count", "first", "last")

    def __init__(self) -> None:
        self.count = 0
        self.first: Expected | None = None
        """The one to be answered next."""
        self.last: Expected | None = None
        """The one that was added last; meaningless when the queue is empty."""

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Expected]:
        expected = self.first
        while expected is not None:
            yield expected
            expected = expected.behind

    def append(self, expected: Expected) -> None:
        """Add a response to wait for."""
        if self.first is None:
            self.first = expected
        else:
            assert self.last is not None
            self.last.behind = expected
        self.last = expected
        self.count += 1

    def pop(self) -> Expected:
        """Remove the first and return it; there must be one."""
        expected = self.first
        assert expected is not None
        self.first = expected.behind
        expected.behind = None  # long queues would be freed by recursion
        self.count -= 1
        return expected

    def drop_last(self, expected: Expected) -> None:
        """Remove the one that was added last, if it is this one: nobody will answer it."""
        if self.last is not expected or not self.count:
            return
        before: Expected | None = None
        for before in self:
            if before.behind is expected:
                break
        if self.first is expected:
            self.first = self.last = None
        else:
            assert before is not None
            before.behind, self.last = None, before
        self.count -= 1

    def clear(self) -> None:
        """Remove all."""
        while self.first is not None:
            self.pop()
        self.last = None
