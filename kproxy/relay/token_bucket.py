# This module is pure (no I/O, no clock).
"""Token buckets: how many new connections a second, with a burst above that, in all and for each address.

`AcceptTurns` asks the one for all clients before it accepts; `ConnectionQuotas` asks those of the addresses.
`Handshakes` has one of its own, for TLS.

A bucket is kept as the moment at which it is full again, so it needs no timer. Times are seconds on one clock.
"""

from __future__ import annotations

from typing import Final

_FEW: Final = 64
_WHOLE: Final = 0.999
"""So much of a token counts as one: sums of fractions are not exact."""


class TokenBucket:
    """Gains `rate` tokens a second and holds `burst` at most; it is full at first."""

    __slots__ = ("_burst", "_full_at", "_rate")

    def __init__(self, rate: int, burst: int) -> None:
        self._rate = rate
        self._burst = burst
        self._full_at = 0.0

    def available(self, now: float) -> int:
        """Return how many tokens there are."""
        return int(self._burst - max(0.0, self._full_at - now) * self._rate)

    @property
    def due(self) -> float:
        """The time from which on there is a token; it may be over."""
        return self._full_at - (self._burst - 1) / self._rate

    def take(self, count: int, now: float) -> None:
        """Take tokens, even if there are fewer."""
        self._full_at = max(now, self._full_at) + count / self._rate

    def give_back(self, count: int) -> None:
        """Put tokens back that were not used."""
        self._full_at -= count / self._rate


class TokenBuckets:
    """A bucket for each key; it remembers only those that are not full.

    A key that took one token is forgotten `1 / rate` seconds later. So the keys that are remembered are few, as long as
    all keys together take a bounded number of tokens a second.
    """

    __slots__ = ("_full_at", "_patience", "_seconds_a_token", "_sweep_at")

    def __init__(self, rate: int, burst: int) -> None:
        self._seconds_a_token = 1 / rate
        self._patience = (burst - _WHOLE) / rate
        self._full_at: dict[str, float] = {}
        self._sweep_at = _FEW

    def __len__(self) -> int:
        return len(self._full_at)

    def take(self, key: str, now: float) -> bool:
        """Take a token of the key's bucket; return False when it has none."""
        full_at = max(now, self._full_at.get(key, now))
        if full_at - now > self._patience:
            return False
        self._full_at[key] = full_at + self._seconds_a_token
        if len(self._full_at) > self._sweep_at:
            self._forget_full(now)
        return True

    def _forget_full(self, now: float) -> None:
        """Drop the buckets that are full; the next time when there are twice as many as are left."""
        self._full_at = {key: full_at for key, full_at in self._full_at.items() if full_at > now}
        self._sweep_at = max(_FEW, 2 * len(self._full_at))
