# This module is pure.
"""Histograms and summaries as one value: what is added up over time and over clients."""

from __future__ import annotations

from math import inf
from operator import add, sub
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from opentelemetry.proto.metrics.v1.metrics_pb2 import (
        ExponentialHistogramDataPoint,
        HistogramDataPoint,
        SummaryDataPoint,
    )


class Distribution(NamedTuple):
    """`buckets[i]` counts what is up to `bounds[i]`, the last one what is above all; a summary has none.

    `quantiles` are (quantile, value), as one client says them: they cannot be added up.
    """

    counted: float = 0.0
    summed: float = 0.0
    bounds: tuple[float, ...] = ()
    buckets: tuple[float, ...] = ()
    quantiles: tuple[tuple[float, float], ...] = ()

    def plus(self, later: Distribution) -> Distribution:
        """Both together, with the quantiles of `later`. Buckets of different bounds cannot be added up: they go."""
        if self.bounds != later.bounds:
            return Distribution(self.counted + later.counted, self.summed + later.summed)
        buckets = tuple(map(add, self.buckets, later.buckets))
        return Distribution(
            self.counted + later.counted, self.summed + later.summed, self.bounds, buckets, later.quantiles
        )

    def minus(self, earlier: Distribution) -> Distribution:
        """What was added since `earlier`; all of it when the count went down or the bounds changed: a restart."""
        if self.bounds != earlier.bounds or self.counted < earlier.counted:
            return self
        buckets = tuple(map(sub, self.buckets, earlier.buckets))
        return self._replace(
            counted=self.counted - earlier.counted, summed=self.summed - earlier.summed, buckets=buckets
        )

    def scaled(self, factor: float) -> Distribution:
        """In another unit."""
        return self._replace(
            summed=self.summed * factor,
            bounds=tuple(bound * factor for bound in self.bounds),
            quantiles=tuple((quantile, value * factor) for quantile, value in self.quantiles),
        )


def of_histogram(point: HistogramDataPoint) -> Distribution | None:
    """A histogram's point; None when its buckets do not fit its bounds."""
    bounds, buckets = tuple(point.explicit_bounds), tuple(point.bucket_counts)
    if inf in bounds[-1:]:
        bounds, buckets = bounds[:-1], (*buckets[:-2], sum(buckets[-2:]))
    if len(buckets) != len(bounds) + bool(buckets) or list(bounds) != sorted(set(bounds)):
        return None
    return Distribution(point.count, point.sum, bounds, buckets)


def of_exponential(point: ExponentialHistogramDataPoint) -> Distribution:
    """Its count and sum: the buckets' bounds differ from client to client and from push to push."""
    return Distribution(point.count, point.sum)


def of_summary(point: SummaryDataPoint) -> Distribution:
    """A summary's point."""
    quantiles = tuple(sorted({each.quantile: each.value for each in point.quantile_values}.items()))
    return Distribution(point.count, point.sum, quantiles=quantiles)
