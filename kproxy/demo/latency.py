"""Quantiles: exact ones of values, and estimates from the buckets of a Prometheus histogram."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def quantile(ordered: Sequence[float], fraction: float) -> float | None:
    """The nearest-rank quantile of sorted values; None of none."""
    if not ordered:
        return None
    return ordered[max(math.ceil(fraction * len(ordered)) - 1, 0)]


def quantile_of_buckets(buckets: Mapping[float, float], fraction: float) -> float | None:
    """As Prometheus' `histogram_quantile`: linear inside a bucket; `buckets` maps upper bounds to cumulative counts.

    None of an empty histogram. In the last bucket, which has no end, it is the bound below.
    """
    total = buckets.get(math.inf, 0.0)
    rank, lower, below = fraction * total, 0.0, 0.0
    for bound, count in sorted(buckets.items()):
        if total and count >= rank:
            return lower if bound == math.inf else lower + (bound - lower) * (rank - below) / max(count - below, 1e-9)
        lower, below = bound, count
    return None
