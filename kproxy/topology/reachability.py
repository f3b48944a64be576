# This module is pure (no I/O, no clock).
"""The reachability of an upstream or node: whether it answers, since when, why not; and when the next poll is due.

The watcher calls it after each poll of an upstream cluster, the prober after each probe of a node.
"""

from __future__ import annotations

from typing import NamedTuple


class Reachability(NamedTuple):
    """`since` is when it last changed between reachable and not, in seconds on Trio's clock."""

    ok: bool
    since: float
    error: str | None = None


def observed(previous: Reachability | None, error: str | None, now: float) -> Reachability:
    """Return the state after one more attempt; `error` is None for a success. The newest reason is kept."""
    ok = error is None
    since = previous.since if previous is not None and previous.ok == ok else now
    return Reachability(ok, since, error)


def flipped(previous: Reachability | None, current: Reachability) -> bool:
    """True when the change must be reported: the first observation, or a change between reachable and not."""
    return previous is None or previous.ok != current.ok


def next_delay(failures: int, rand: float, *, interval: float, jitter: float, floor: float) -> float:
    """Return the seconds until the next poll after `failures` failed rounds in a row; `rand` is in [0, 1).

    After a failure the delay starts at `floor` and doubles up to `interval`, so that a recovery is noticed soon.
    `jitter` is a share of the delay, to both sides (0.2: 80 % to 120 %), so that replicas started together drift apart.
    The delay is never below `floor`.
    """
    delay = min(interval, floor * 2 ** min(failures - 1, 32)) if failures else interval
    return max(floor, delay * (1 + jitter * (2 * rand - 1)))
