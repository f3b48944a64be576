"""From when to when the tables have data, whatever the window is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kproxy.pipeline.report.sections.shapes import Row


@dataclass(frozen=True, slots=True)
class Coverage:
    """The times of the first and the last row; None when there is none."""

    first_event: datetime | None = None
    last_event: datetime | None = None
    first_push: datetime | None = None
    last_push: datetime | None = None

    @property
    def first(self) -> datetime | None:
        """The first row of all."""
        return min((time for time in (self.first_event, self.first_push) if time), default=None)

    @property
    def last(self) -> datetime | None:
        """The last row of all."""
        return max((time for time in (self.last_event, self.last_push) if time), default=None)


EVENTS: Final = "SELECT min(since) AS first, max(last_seen) AS last FROM connections"
"""Connections know of each event of a client, in fewer rows than `events`."""
PUSHES: Final = "SELECT min(received_at) AS first, max(received_at) AS last FROM pushes"


def coverage(events: Sequence[Row], pushes: Sequence[Row]) -> Coverage:
    """Return what the two queries gave; no row is no table."""
    event, push = (rows[0] if rows else {"first": None, "last": None} for rows in (events, pushes))
    return Coverage(event["first"], event["last"], push["first"], push["last"])
