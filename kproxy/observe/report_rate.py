# This module is pure (no I/O, no clock).
"""How many events of one kind are reported in a second: whoever causes errors could fill the stream otherwise."""

from __future__ import annotations


class ReportRate:
    """Allows so many in each second."""

    def __init__(self, most: int) -> None:
        self.left_out = 0
        """How many were left out just before the last one that was allowed."""
        self._left_out = 0
        self._most = most
        self._second = -1
        self._reported = 0

    def allows(self, now: float) -> bool:
        """Return whether one more may be reported, and count it if so; `now` is in seconds, by any clock."""
        if int(now) != self._second:
            self._second, self._reported = int(now), 0
        if self._reported >= self._most:
            self._left_out += 1
            return False
        self._reported += 1
        self.left_out, self._left_out = self._left_out, 0
        return True
