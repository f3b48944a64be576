# This module is pure.
"""What would send every client away must be seen twice: one poll may have met the wrong cluster, or a broker alone."""

from __future__ import annotations

from typing import Final

from kproxy.rebootstrap.actions import Cause

CALM: Final = 10
"""Polls in a row without a doubt, after which the next one is news again."""


class Confirmation:
    """`of`: the cause that the last poll showed, and the cluster id with it, when it was not believed yet.

    `news`: whether this doubt came after a calm, so that a name that leads to two clusters in turn is logged once.
    """

    __slots__ = ("_calm", "news", "of")

    def __init__(self) -> None:
        self.of: tuple[Cause, str | None] | None = None
        self.news = False
        self._calm = CALM

    @property
    def cluster_id(self) -> str | None:
        """The id of the other cluster that waits to be confirmed; None when none does."""
        return self.of[1] if self.of is not None and self.of[0] is Cause.CLUSTER_CHANGED else None

    def admits(self, cause: Cause | None, cluster_id: str | None) -> bool:
        """Whether what a poll shows may replace the snapshot: no `cause`, or the same as the poll before showed."""
        if cause is None:
            self.of = None
            self._calm += 1
            return True
        if (cause, cluster_id) == self.of:
            self.of = None
            self._calm = CALM
            return True
        self.of = cause, cluster_id
        self.news = self._calm >= CALM
        self._calm = 0
        return False
