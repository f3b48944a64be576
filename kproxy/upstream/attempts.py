# This module is pure.
"""Which broker to ask next, and how long to wait before the next attempt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

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


Address = tuple[str, int]


class Candidate(NamedTuple):
    """One address as it stands: times on the clock of `now`, `failures` in a row.

    `renewed_at`: when its connection was last to be replaced by a fresh one.
    """

    address: Address
    bootstrap: bool
    failures: int
    retry_at: float
    last_used: float
    renewed_at: float = 0.0


def ordered(candidates: Iterable[Candidate], now: float) -> list[Address]:
    """The addresses in the order to try them.

    Those that wait out a backoff come last, those that failed lately before them. Bootstrap servers go before the nodes
    that they named, because the configuration says what the cluster is; among equals, the one that rested longest.
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
    """As `ordered`, but one bootstrap server goes first: the one that was not asked on a fresh connection for longest.

    Though it failed lately, or none that failed once would be asked again while a node answers; but only one, and none
    that waits out a backoff, lest servers that hang use up the time in which a well one would answer.
    """
    all_of_them = list(candidates)
    turns = [each for each in all_of_them if each.bootstrap and each.retry_at <= now]
    first = [min(turns, key=lambda each: each.renewed_at).address] if turns else []
    return first + [address for address in ordered(all_of_them, now) if address not in first]
