"""Requests that wait for their response, in the order in which the client sent them: Kafka answers in that order."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kproxy.relay.conversation import Conversation
    from kproxy.relay.routes import Route
    from kproxy.relay.verdicts import Parked

MAX_IN_FLIGHT: Final = 1000
"""Requests of one connection that may wait; beyond it the client is not read. Clients default to 5."""


class Expected:
    """A response that the client waits for; times in seconds on the monotonic clock.

    `answer` is the whole frame where the proxy answers itself, which waits here until all earlier responses are out, or
    what it is to come from. In a conversation `correlation_id` is that of the request that the broker has.
    """

    __slots__ = ("answer", "correlation_id", "first_byte", "received", "route", "sent")

    def __init__(self, correlation_id: int, route: Route, received: float) -> None:
        self.correlation_id = correlation_id
        self.route = route
        self.received = received
        self.sent = received
        self.first_byte = received
        self.answer: bytes | Parked | Conversation | None = None

    def abandon(self) -> None:
        """The connection has ended: tell who would have answered."""
        if self.answer is not None and not isinstance(self.answer, bytes):
            self.answer.abandon()


InFlight = deque[Expected]
