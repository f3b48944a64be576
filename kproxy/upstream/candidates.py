# This module is pure.
"""Which broker to ask when any will do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

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
