# This module is pure (no I/O, no clock).
"""Decides when a virtual cluster switches upstreams by itself: late, seldom, and never back without a reason.

`FailoverController` asks it once a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

AFTER: Final = 60.0
FLOOR: Final = 600.0


class Failover:
    """Which upstream is `active`, as an index in order of preference, and whether another one is due.

    `upstreams` is their number. Times are in seconds on the clock of `now`. `after`: how long without a break the
    active one must be unreachable. `floor`: how long after any switch none happens by itself. That includes a switch by
    hand, since the operator may be at work on the upstream that was left. An active one that answers is kept, however
    low in the order.
    """

    __slots__ = ("_seen_at", "active", "after", "automatic", "blind", "down_since", "floor", "switched_at", "upstreams")

    def __init__(
        self, upstreams: int, *, automatic: bool = False, after: float = AFTER, floor: float = FLOOR, active: int = 0
    ) -> None:
        self.upstreams = upstreams
        self.automatic = automatic
        self.after = after
        self.floor = floor
        self.active = active
        self.down_since: float | None = None
        self.switched_at: float | None = None
        self.blind = False
        """True while it is not known whether the active upstream answers."""
        self._seen_at = 0.0

    def observe(self, active_ok: bool | None, now: float) -> None:
        """Note whether the active upstream answered; one answer ends the outage.

        None when kproxy itself was in no state to ask: that time does not count as an outage, and nothing is due in it.
        """
        unseen, self._seen_at = now - self._seen_at, now
        self.blind = active_ok is None
        if active_ok is None:
            self.down_since = None if self.down_since is None else self.down_since + unseen
        elif active_ok:
            self.down_since = None
        elif self.down_since is None:
            self.down_since = now

    def due(self, now: float) -> bool:
        """True when it is time to look for a candidate; a switch still needs one that answers."""
        if not self.automatic or self.upstreams < 2 or self.down_since is None or self.blind:
            return False
        rested = self.switched_at is None or now - self.switched_at >= self.floor
        return rested and now - self.down_since >= self.after

    def candidates(self, active: int) -> Sequence[int]:
        """Return the other upstreams, in the order to ask them."""
        return [index for index in range(self.upstreams) if index != active]

    def switched(self, to: int, now: float) -> None:
        """Note a switch to another upstream, which has no outage yet."""
        self.active = to
        self.switched_at = now
        self.down_since = None
