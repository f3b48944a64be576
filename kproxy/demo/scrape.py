"""Reads the demo's numbers from kproxy's /metrics.

The demo scrapes when the load begins, and at each sample of the clients, twice a second.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families


def quantile(ordered: Sequence[float], fraction: float) -> float | None:
    """Return the nearest-rank quantile of sorted values; None when there are none."""
    if not ordered:
        return None
    return ordered[max(math.ceil(fraction * len(ordered)) - 1, 0)]


def quantile_of_buckets(buckets: Mapping[float, float], fraction: float) -> float | None:
    """Return a quantile as Prometheus' `histogram_quantile` does, by linear interpolation inside a bucket.

    `buckets` maps upper bounds to cumulative counts. Return None for an empty histogram; for a quantile in the last
    bucket, which has no end, its lower bound.
    """
    total = buckets.get(math.inf, 0.0)
    rank, lower, below = fraction * total, 0.0, 0.0
    for bound, count in sorted(buckets.items()):
        if total and count >= rank:
            return lower if bound == math.inf else lower + (bound - lower) * (rank - below) / max(count - below, 1e-9)
        lower, below = bound, count
    return None


_IN_PROXY = "kproxy_request_proxy_duration_seconds_bucket"


@dataclass(frozen=True, slots=True)
class Scrape:
    """Totals since kproxy's start. `in_proxy` are cumulative buckets in seconds, over all APIs."""

    requests: Mapping[str, float]
    errors: Mapping[str, float]
    in_proxy: Mapping[float, float]
    cpu_seconds: float
    rss_bytes: float
    moved_bytes: float


def read(page: str) -> Scrape:
    """Read a page in Prometheus' text format. Raise ValueError for anything else."""
    requests: dict[str, float] = defaultdict(float)
    errors: dict[str, float] = defaultdict(float)
    in_proxy: dict[float, float] = defaultdict(float)
    single: dict[str, float] = defaultdict(float)
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            if sample.name == "kproxy_requests_total":
                requests[sample.labels["api"]] += sample.value
            elif sample.name == "kproxy_response_errors_total":
                errors[sample.labels["error"]] += sample.value
            elif sample.name == _IN_PROXY:
                in_proxy[float(sample.labels["le"])] += sample.value
            else:
                single[sample.name] += sample.value
    return Scrape(
        requests=dict(requests),
        errors=dict(errors),
        in_proxy=dict(in_proxy),
        cpu_seconds=single["process_cpu_seconds_total"],
        rss_bytes=single["process_resident_memory_bytes"],
        moved_bytes=single["kproxy_request_bytes_total"] + single["kproxy_response_bytes_total"],
    )


def in_proxy_quantile(now: Scrape, before: Scrape, fraction: float) -> float | None:
    """Return a quantile of the seconds that requests between two scrapes spent in kproxy itself."""
    buckets = {bound: count - before.in_proxy.get(bound, 0.0) for bound, count in now.in_proxy.items()}
    return quantile_of_buckets(buckets, fraction)
