# This module is pure (no I/O, no clock).
"""Which broker to ask next, and how long to wait before the next attempt.

`UpstreamClient` calls `ordered` or `fresh_first` for each request that any broker may answer. Code that tries again
calls `full_jitter` after each failure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

BASE: Final = 0.05
"""Seconds: the ceiling of the wait before the second attempt."""

CAP: Final = 2.0
"""Seconds: low, because a broker that is back must soon be used again; one connect in two seconds does no harm."""

# Beyond this the ceiling has long been reached, and 2**n would only grow.
_MAX_DOUBLINGS: Final = 32


def full_jitter(failures: int, rand: float, *, base: float = BASE, cap: float = CAP) -> float:
    """Return the seconds to wait after `failures` failures in a row (0: none); `rand` is in [0, 1).

    The wait is drawn from the whole span, not from a band at its end: many proxies that lost a broker at once come back
    spread out.
    """
    if failures < 1:
        return 0.0
    return rand * float(min(cap, base * 2 ** min(failures - 1, _MAX_DOUBLINGS)))


Address = tuple[str, int]


class Candidate(NamedTuple):
    """The present state of one address: times are on the clock of `now`, `failures` are in a row.

    `renewed_at`: when its connection was last due to be replaced by a fresh one.
    """

    address: Address
    bootstrap: bool
    failures: int
    retry_at: float
    last_used: float
    renewed_at: float = 0.0


def ordered(candidates: Iterable[Candidate], now: float) -> list[Address]:
    """Return the addresses in the order to try them.

    Those in backoff come last, and before them those that failed lately. Bootstrap servers come before the nodes that
    they named, because the configuration says what the cluster is. Among equals, the least recently used one comes
    first.
    """

    def rank(candidate: Candidate) -> tuple[bool, bool, bool, float]:
        return (
            candidate.retry_at > now,
            candidate.failures > 0,
            not candidate.bootstrap,
            candidate.last_used,
        )

    return [candidate.address for candidate in sorted(candidates, key=rank)]


def fresh_first(candidates: Iterable[Candidate], now: float) -> list[Address]:
    """As `ordered`, but first comes the bootstrap server that was not asked on a fresh connection for longest.

    It may have failed lately: otherwise one that failed once would not be asked again while a node answers. But only
    one goes first, and none in backoff, so that servers that hang do not use up the time in which a healthy one would
    answer.
    """
    all_of_them = list(candidates)
    turns = [each for each in all_of_them if each.bootstrap and each.retry_at <= now]
    first = [min(turns, key=lambda each: each.renewed_at).address] if turns else []
    return first + [address for address in ordered(all_of_them, now) if address not in first]
