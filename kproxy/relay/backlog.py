"""Answers of the proxy's own that are worked out in steps, between which the relay looks for what is to be relayed."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kproxy.relay.connection import Connection
    from kproxy.relay.verdicts import Stepwise

_SHARE: Final = 16
"""One of so many that wait is taken a step on at a time, so that they are not many for long."""


class Backlog:
    """The oldest first, each to its end: they are answered, and take effect, in the order in which they came.

    `waiting` are those of which a step may be left.
    """

    def __init__(self) -> None:
        self.waiting: deque[tuple[Connection, Stepwise]] = deque()

    def add(self, connection: Connection, stepwise: Stepwise) -> None:
        """Answer the connection's request when its turn has come."""
        self.waiting.append((connection, stepwise))

    def take(self) -> None:
        """Take a step, and more where many wait."""
        for _ in range(1 + len(self.waiting) // _SHARE):
            connection, stepwise = self.waiting[0]
            try:
                if not stepwise.done:  # its connection may have finished it
                    stepwise.step()
            except Exception as error:  # one connection's failure is never another's
                connection.pump.failed(connection.client, error)
            if stepwise.done:
                self.waiting.popleft()
