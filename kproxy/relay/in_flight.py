"""Requests that wait for their response, in the order in which the client sent them: Kafka answers in that order."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kproxy.relay.routes import Route

MAX_IN_FLIGHT: Final = 1000
"""Requests of one connection that may wait; beyond it the client is not read. Clients default to 5."""


class Expected:
    """A response that the client waits for; times in seconds on the monotonic clock.

    `answer` is the whole frame where the proxy answers itself; it waits here until all earlier responses are out.
    """

    __slots__ = ("answer", "correlation_id", "first_byte", "received", "route", "sent")

    def __init__(self, correlation_id: int, route: Route, received: float) -> None:
        self.correlation_id = correlation_id
        self.route = route
        self.received = received
        self.sent = received
        self.first_byte = received
        self.answer: bytes | None = None


InFlight = deque[Expected]
