# This module is compiled (by mypyc).
"""Runs the steps of answers that the proxy works out itself; between two steps the relay moves waiting bytes.

The pump calls `add` when a handler returns an `Incremental` answer, and `take` between two polls of epoll while any
waits. Nothing here uses a socket or a clock.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, Protocol

from kproxy.protocol.outcomes import Incremental

SHARE: Final = 16
"""For every so many clients that wait for an answer of the proxy's own, one more is served between two polls of epoll.
So a long queue does not last.
"""


class Asking(Protocol):
    """The connection that a request came by. Its `id` is unique."""

    id: int

    def failed(self, error: Exception) -> None:
        """Handle the exception that a step raised; must not raise."""


class DeferredWork:
    """Takes the oldest answer first, and each to its end: they are sent, and take effect, in the order of arrival."""

    def __init__(self) -> None:
        # An OrderedDict: a dict finds its first entry more slowly with each entry removed in front of it.
        self.waiting: OrderedDict[int, tuple[Asking, Incremental]] = OrderedDict()
        """Answers that have steps left, by their connection's id."""

    def add(self, connection: Asking, stepwise: Incremental) -> None:
        """Queue an answer. An earlier one of the same connection is finished now: each connection has one at most."""
        if (before := self.waiting.pop(connection.id, None)) is not None:
            before[1].finish()
        self.waiting[connection.id] = connection, stepwise

    def take(self) -> None:
        """Take one step, and more where many answers wait."""
        for _ in range(1 + len(self.waiting) // SHARE):
            connection, stepwise = next(iter(self.waiting.values()))
            try:
                stepwise.step()
            except Exception as error:  # one connection's failure is never another's
                connection.failed(error)
            if stepwise.done:
                self._let_go(connection, stepwise)

    def _let_go(self, connection: Asking, stepwise: Incremental) -> None:
        """Remove a finished answer, unless its end has already brought in the client's next request and replaced it."""
        held = self.waiting.get(connection.id)
        if held is not None and held[1] is stepwise:
            del self.waiting[connection.id]
