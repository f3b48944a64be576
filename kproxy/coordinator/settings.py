# This module is pure (no I/O, no clock).
"""What holds for a hosted group; times are in seconds. The defaults are those of a Kafka broker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """The settings of one entry of `groups`."""

    initial_rebalance_delay: float = 3.0
    """How long the first members of an empty group wait for others; each one prolongs it by as much."""
    min_session_timeout: float = 6.0
    max_session_timeout: float = 1800.0
    max_members: int | None = None
    leader: Literal["first", "random"] = "first"
    """Which member assigns: the first one that joined, for as long as it stays, or any one of each generation."""
    offset_refresh: float = 6 * 3600.0
    """How often the offsets of live members are committed again."""


NEW_MEMBER_TIMEOUT = 300.0
"""A member's first JoinGroup may wait for so long. Its connection cannot be seen to be gone, and it sends no heartbeats
before it knows its id.
"""
LEAST_WAIT = 1.0
"""Static members are waited for again and again until their sessions end, though their rebalance timeout may be 0."""
EMPTY_KEPT = 600.0
"""So long an empty group is kept, so that its generations go on when its members come back."""
BROKER_WAIT = 60.0
"""A member is kept for so long beyond its session while its broker does not answer what it is asked for the member."""
