# This module is pure (no I/O, no clock).
"""Numbers for people: few digits, and a unit that fits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from math import floor, isfinite, log10
from typing import Final


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit with its multiples: (1, "B"), (1000, "kB"), …; the smallest one comes first."""

    multiples: tuple[tuple[float, str], ...]

    def of(self, value: float) -> tuple[float, str]:
        """Return the multiple in which this value has few digits."""
        return next((one for one in reversed(self.multiples) if abs(value) >= one[0]), self.multiples[0])

    def text(self, value: float) -> str:
        """Return the value with its unit."""
        factor, name = self.of(value)
        return f"{number(value / factor)} {name}".rstrip()


def counted(what: str) -> Unit:
    """Return the unit of things that are counted."""
    return Unit(((1, what), (1e6, f"million {what}"), (1e9, f"billion {what}")))


BYTES: Final = Unit(((1, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"), (1e15, "PB")))
BYTES_BY_SECOND: Final = Unit(tuple((factor, f"{name}/s") for factor, name in BYTES.multiples))
MILLISECONDS: Final = Unit(((1, "ms"), (1e3, "s"), (6e4, "min")))
SECONDS: Final = Unit(((1e-3, "ms"), (1, "s"), (60, "min"), (3600, "h"), (86_400, "d")))


_HUGE: Final = 1e18


def number(value: float) -> str:
    """Return a number with about three digits: 1,234, 12.3, 0.0123; beyond all use 1e+20."""
    if not isfinite(value):
        return "–"
    if abs(value) >= _HUGE:
        return f"{value:.3g}"
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    digits = max(2 - floor(log10(abs(value))), 0)
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")


def duration(time: timedelta) -> str:
    """Return a time as 45 s, 12 min, 2 h 50 min or 3 d 4 h."""
    seconds = round(time.total_seconds())
    for large, small, names in ((86_400, 3600, ("d", "h")), (3600, 60, ("h", "min"))):
        if seconds >= large:
            whole, rest = divmod(seconds, large)
            return f"{whole} {names[0]} {rest // small} {names[1]}" if rest // small else f"{whole} {names[0]}"
    return f"{seconds // 60} min" if seconds >= 60 else f"{seconds} s"
