# This module is pure.
"""When the watcher polls next: spread around the interval while all is well, sooner while something is not."""

from __future__ import annotations


def next_delay(failures: int, rand: float, *, interval: float, jitter: float, floor: float) -> float:
    """Seconds until the next poll, when `failures` rounds in a row went wrong; `rand` in [0, 1).

    After a failure the delay starts at `floor` and doubles up to `interval`, so that a recovery is soon seen. `jitter`
    is a share of the delay, to both sides (0.2: 80 % to 120 %), so that replicas started together drift apart. Never
    below `floor`.
    """
    delay = min(interval, floor * 2 ** min(failures - 1, 32)) if failures else interval
    return max(floor, delay * (1 + jitter * (2 * rand - 1)))
