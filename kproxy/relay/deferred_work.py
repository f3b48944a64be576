# This module is compiled.
"""Answers of the proxy's own that are worked out in steps, between which the relay looks for what is to be relayed.

Pure.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, Protocol

from kproxy.protocol.outcomes import Incremental

SHARE: Final = 16
"""One of so many clients that wait for an answer of the proxy's own has its turn between two looks at epoll, so that
they are not many for long.
"""


class Asking(Protocol):
    """The connection whose request it is; no other has its `id`."""

    id: int

    def failed(self, error: Exception) -> None:
        """A step raised it; not to raise."""


class DeferredWork:
    """The oldest first, each to its end: they are answered, and take effect, in the order in which they came.

    `waiting` are those of which a step is left, by their connection's id.
    """

    def __init__(self) -> None:
        # No dict: it finds its first more slowly the more were taken out in front of it.
        self.waiting: OrderedDict[int, tuple[Asking, Incremental]] = OrderedDict()

    def add(self, connection: Asking, stepwise: Incremental) -> None:
        """Answer the connection's request when its turn has come; the one before it, now: it has one held at most."""
        if (before := self.waiting.pop(connection.id, None)) is not None:
            before[1].finish()
        self.waiting[connection.id] = connection, stepwise

    def take(self) -> None:
        """Take a step, and more where many wait."""
        for _ in range(1 + len(self.waiting) // SHARE):
            connection, stepwise = next(iter(self.waiting.values()))
            try:
                stepwise.step()
            except Exception as error:  # one connection's failure is never another's
                connection.failed(error)
            if stepwise.done:
                self._let_go(connection, stepwise)

    def _let_go(self, connection: Asking, stepwise: Incremental) -> None:
        """Unless what was held behind its answer, which is out, has brought in the client's next already."""
        held = self.waiting.get(connection.id)
        if held is not None and held[1] is stepwise:
            del self.waiting[connection.id]
