# This module is pure.
"""How long to wait before the next attempt: exponential backoff with full jitter."""

from __future__ import annotations

from typing import Final

BASE: Final = 0.05
"""Seconds: the ceiling before the second attempt."""

CAP: Final = 2.0
"""Seconds: low, because a broker that is back must soon be used again; one connect in two seconds harms nobody."""

# Beyond this the ceiling has long been reached, and 2**n would only grow.
_MAX_DOUBLINGS: Final = 32


def full_jitter(failures: int, rand: float, *, base: float = BASE, cap: float = CAP) -> float:
    """Seconds to wait after `failures` failures in a row (0: none), `rand` in [0, 1).

    The whole span is drawn from, not a band at its end: many proxies that lost a broker at once come back spread out.
    """
    if failures < 1:
        return 0.0
    return rand * float(min(cap, base * 2 ** min(failures - 1, _MAX_DOUBLINGS)))
