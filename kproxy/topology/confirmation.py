# This module is pure (no I/O, no clock).
"""Believes a change that would send every client away only when two polls show it.

The watcher asks it after each answered poll. One poll may have met the wrong cluster, or a broker that is alone.
"""

from __future__ import annotations

from typing import Final

from kproxy.topology.snapshot import Replacement

CALM: Final = 10
"""Polls in a row that need no confirmation, after which the next one that needs it is news again."""


class Confirmation:
    """Holds a replaced topology back until the next poll shows the same."""

    __slots__ = ("_calm", "is_news", "pending")

    def __init__(self) -> None:
        self.pending: tuple[Replacement, str | None] | None = None
        """What the last poll showed, with the cluster id; None when nothing waits for confirmation."""
        self.is_news = False
        """True when `pending` came after a calm, so that a name that leads to two clusters in turn is logged once."""
        self._calm = CALM

    @property
    def cluster_id(self) -> str | None:
        """The id of the other cluster that waits to be confirmed; None when none does."""
        pending = self.pending
        return pending[1] if pending is not None and pending[0] is Replacement.CLUSTER_CHANGED else None

    def accepts(self, replacement: Replacement | None, cluster_id: str | None) -> bool:
        """Return True when what a poll shows counts: it replaces nothing, or the poll before showed the same."""
        if replacement is None:
            self.pending = None
            self._calm += 1
            return True
        if (replacement, cluster_id) == self.pending:
            self.pending = None
            self._calm = CALM
            return True
        self.pending = replacement, cluster_id
        self.is_news = self._calm >= CALM
        self._calm = 0
        return False
