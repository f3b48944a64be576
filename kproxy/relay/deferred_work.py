# This module is compiled (by mypyc).
"""What waits for its turn between two polls of epoll: steps of the proxy's own answers, and frames held back.

The pump calls `add` when a handler returns an `Incremental` answer, and `go_on_later` when a connection has looked at
many frames in a row. It calls `take` between two polls while anything waits. Nothing here uses a socket or a clock.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, Protocol

from kproxy.protocol.outcomes import Incremental

SHARE: Final = 16
"""For every so many connections that wait, one more is served between two polls of epoll. So a long queue does not
last.
"""


class Asking(Protocol):
    """The connection that a request came by. Its `id` is unique."""

    id: int

    def failed(self, error: Exception) -> None:
        """Handle the exception that a step raised; must not raise."""


class Resting(Asking, Protocol):
    """A connection that holds frames back."""

    @property
    def closed(self) -> bool:
        """True when it has ended."""

    def go_on(self, now: float) -> None:
        """Take what is held back; it may be held back again."""


class DeferredWork:
    """Serves the connections in the order in which they came.

    An answer is taken to its end before the next begins: they are sent, and take effect, in the order of arrival.
    """

    def __init__(self) -> None:
        # OrderedDicts: a dict finds its first entry more slowly with each entry removed in front of it.
        self.waiting: OrderedDict[int, tuple[Asking, Incremental]] = OrderedDict()
        """Answers that have steps left, by their connection's id; each connection has one at most."""
        self.resting: OrderedDict[int, Resting] = OrderedDict()
        """Connections that hold frames back, by id."""

    def add(self, connection: Asking, stepwise: Incremental) -> None:
        """Queue an answer of a connection that has none here."""
        assert connection.id not in self.waiting, "the request behind an answer in steps is held"
        self.waiting[connection.id] = connection, stepwise

    def go_on_later(self, connection: Resting) -> None:
        """Queue a connection, unless it is queued."""
        self.resting[connection.id] = connection

    def take(self, now: float) -> None:
        """Give the first of each queue its turn, and more where many wait."""
        if self.waiting:
            many = False
            for _ in range(1 + len(self.waiting) // SHARE):
                if self._step():
                    many = False
                elif many:  # of a push of megabytes: each of its steps may take 5 ms, so the others' turn is now
                    break
                else:
                    many = True
        if self.resting:
            for _ in range(1 + len(self.resting) // SHARE):
                self._go_on(now)

    def _step(self) -> bool:
        """Take one step of the oldest answer; return whether it was the last one."""
        number, (connection, stepwise) = self.waiting.popitem(last=False)  # its end may bring in the next request
        try:
            stepwise.step()
        except Exception as error:  # one connection's failure is never another's
            connection.failed(error)
        if not stepwise.done:
            self.waiting[number] = connection, stepwise
            self.waiting.move_to_end(number, last=False)
        return stepwise.done

    def _go_on(self, now: float) -> None:
        connection = self.resting.popitem(last=False)[1]
        if connection.closed:
            return
        try:
            connection.go_on(now)
        except Exception as error:  # one connection's failure is never another's
            connection.failed(error)
