# This module is pure.
"""Whether something upstream answers, since when, and why not; and when it is looked at next."""

from __future__ import annotations

from typing import NamedTuple


class Reachability(NamedTuple):
    """`since` is the moment (Trio's clock, seconds) of the last change between reachable and not."""

    ok: bool
    since: float
    error: str | None = None


def observed(previous: Reachability | None, error: str | None, now: float) -> Reachability:
    """The state after one more attempt; `error` None means that it succeeded. The newest reason is kept."""
    ok = error is None
    since = previous.since if previous is not None and previous.ok == ok else now
    return Reachability(ok, since, error)


def flipped(previous: Reachability | None, current: Reachability) -> bool:
    """Whether a listener must hear of it: the first observation, or a change between reachable and not."""
    return previous is None or previous.ok != current.ok


def next_delay(failures: int, rand: float, *, interval: float, jitter: float, floor: float) -> float:
    """Seconds until the next poll, when `failures` rounds in a row went wrong; `rand` in [0, 1).

    After a failure the delay starts at `floor` and doubles up to `interval`, so that a recovery is soon seen. `jitter`
    is a share of the delay, to both sides (0.2: 80 % to 120 %), so that replicas started together drift apart. Never
    below `floor`.
    """
    delay = min(interval, floor * 2 ** min(failures - 1, 32)) if failures else interval
    return max(floor, delay * (1 + jitter * (2 * rand - 1)))
