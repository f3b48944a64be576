"""Which broker to ask when any will do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

Address = tuple[str, int]


class Candidate(NamedTuple):
    """One address as it stands: times on the clock of `now`, `failures` in a row."""

    address: Address
    bootstrap: bool
    failures: int
    retry_at: float
    last_used: float


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
