"""What one run measures, and how much of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

SECTIONS: Final = ("produce", "fetch", "small", "latency", "connect", "idle", "start", "metadata", "telemetry", "tls")
START_ROUNDS: Final = 5
LATENCY_ROUNDS: Final = 3
"""Latency rounds for each round of the others: one takes two seconds, and scheduling of connections shows in p50."""


@dataclass(frozen=True, slots=True)
class Options:
    """`records`, `requests`, `latencies`, `connects`, `handshakes`, `pushing` seconds: for each target and round.

    `cycles` of all modes beside pushes, for each round; `seconds` for the whole run.
    """

    sections: frozenset[str]
    rounds: int = 3
    records: int = 1 << 19
    requests: int = 50_000
    latencies: int = 3_000
    connects: int = 200
    handshakes: int = 1_000
    idle: int = 10_000
    instances: int = 2_000
    pushing: float = 15
    cycles: int = 12
    seconds: float = 13 * 60

    @classmethod
    def quick(cls, sections: frozenset[str], rounds: int) -> Self:
        """Return just enough to see that everything works and where the figures lie."""
        return cls(
            sections,
            rounds,
            records=1 << 17,
            requests=10_000,
            latencies=1_000,
            connects=50,
            handshakes=200,
            idle=2_000,
            instances=500,
            pushing=4,
            cycles=2,
            seconds=5 * 60,
        )
