# This module is pure (no I/O, no clock).
"""Counters of a virtual cluster's hosted groups. kproxy.coordinator writes them, a scrape of /metrics reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sized
from dataclasses import dataclass, field
from typing import Protocol

from kproxy.observe.counters import Histogram


class HostedGroup(Protocol):
    """A group, as a scrape counts it."""

    @property
    def state(self) -> str: ...

    @property
    def members(self) -> Sized: ...


@dataclass(slots=True)
class GroupCounters:
    """`groups` are by id. `moves` is by the state that groups went to, and the cause. Histograms are of seconds."""

    groups: Mapping[str, HostedGroup] = field(default_factory=dict)
    moves: Counter[tuple[str, str]] = field(default_factory=Counter)
    rebalances: Histogram = field(default_factory=Histogram)
    """From the first disturbance of a group at rest until its new assignments are there."""
    assignments: Histogram = field(default_factory=Histogram)
    """From the end of the joins until the leader's assignments are there: members wait in SyncGroup meanwhile."""
    store: Histogram = field(default_factory=Histogram)
    """How long members waited for the store."""
    late_heartbeats: int = 0

    def states(self) -> Counter[str]:
        """Return how many groups there are in each state."""
        return Counter(str(group.state) for group in dict(self.groups).values())

    def members(self) -> int:
        """Return how many members all groups have."""
        return sum(len(group.members) for group in dict(self.groups).values())
