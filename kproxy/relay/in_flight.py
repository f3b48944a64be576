# This module is pure and compiled.
"""Requests that wait for their response, in the order in which the client sent them: Kafka answers in that order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kproxy.protocol.api_table import Route
    from kproxy.protocol.outcomes import Deferred
    from kproxy.relay.conversation import Conversation

MAX_IN_FLIGHT: Final = 1000
"""Requests of one connection that may wait; beyond it the client is not read. Clients default to 5."""


class Expected:
    """A response that the client waits for; times in seconds on the monotonic clock; `behind` is the next one.

    `answer` is the whole frame where the proxy answers itself, which waits here until all earlier responses are out, or
    what it is to come from. In a conversation `correlation_id` is that of the request that the broker has.
    """

    __slots__ = ("answer", "behind", "correlation_id", "first_byte", "received", "route", "sent")

    def __init__(self, correlation_id: int, route: Route, received: float) -> None:
        self.correlation_id = correlation_id
        self.route = route
        self.received = received
        self.sent = received
        self.first_byte = received
        self.answer: bytes | Deferred | Conversation | None = None
        self.behind: Expected | None = None

    def abandon(self) -> None:
        """The connection has ended: tell who would have answered."""
        if self.answer is not None and not isinstance(self.answer, bytes):
            self.answer.abandon()


class InFlight:
    """A queue, linked through its entries: most often it holds one, and to compiled code each step is a plain field.

    `first` is the one to be answered next; `last` is the youngest, and stays when the queue is empty.
    """

    __slots__ = ("count", "first", "last")

    def __init__(self) -> None:
        self.count = 0
        self.first: Expected | None = None
        self.last: Expected | None = None

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Expected]:
        expected = self.first
        while expected is not None:
            yield expected
            expected = expected.behind

    def append(self, expected: Expected) -> None:
        """Wait for one more."""
        if self.first is None:
            self.first = expected
        else:
            assert self.last is not None
            self.last.behind = expected
        self.last = expected
        self.count += 1

    def pop(self) -> Expected:
        """Wait no more for the first; there must be one."""
        expected = self.first
        assert expected is not None
        self.first = expected.behind
        expected.behind = None  # long queues would be freed by recursion
        self.count -= 1
        return expected

    def clear(self) -> None:
        """Wait for nothing."""
        while self.first is not None:
            self.pop()
        self.last = None
