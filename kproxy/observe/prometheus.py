"""The counters as Prometheus metrics: a collector that reads them at each scrape, and the page of a scrape.

The admin port calls it at each scrape of /metrics, in a worker thread.
"""

from __future__ import annotations

import gzip
import platform
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from kproxy import __version__
from kproxy.compiled import is_compiled
from kproxy.observe.breaks import Breaks
from kproxy.observe.counters import BOUNDS, Counters, Histogram
from kproxy.observe.families import FAMILIES, PROCESS_FAMILIES, Family
from kproxy.observe.loop_lag import LAG_BOUNDS, LoopLag
from kproxy.observe.series import ProcessRows, Rows

_UNITS: Final = ("seconds", "bytes")


def _le(bounds: Iterable[float]) -> tuple[str, ...]:
    return (*map(str, bounds), "+Inf")


_LE: Final = _le(BOUNDS)
_LAG_LE: Final = _le(LAG_BOUNDS)


def _add_histogram(
    metric: Metric, labels: dict[str, str], histogram: Histogram | LoopLag, bounds: tuple[str, ...] = _LE
) -> None:
    """Add cumulative buckets, as Prometheus has them. The count is their sum, so that both agree."""
    count = 0
    for le, there in zip(bounds, histogram.counts.copy(), strict=True):
        count += there
        metric.samples.append(Sample(f"{metric.name}_bucket", {**labels, "le": le}, count))
    metric.samples.append(Sample(f"{metric.name}_count", labels, count))
    metric.samples.append(Sample(f"{metric.name}_sum", labels, histogram.total))


def _empty(family: Family[Any]) -> Metric:
    name = family.name.removesuffix("_total")  # prometheus_client adds it again where the format needs it
    return Metric(name, family.help, family.kind, next((unit for unit in _UNITS if name.endswith(f"_{unit}")), ""))


class _Samples(list[Sample]):
    """Samples with breaks: prometheus_client formats all samples of a metric in one loop."""

    def __init__(self, samples: list[Sample], breaks: Breaks) -> None:
        super().__init__(samples)
        self._breaks = breaks

    def __iter__(self) -> Iterator[Sample]:
        return self._breaks.between(super().__iter__())


def _metric(family: Family[Rows], counters: Counters, breaks: Breaks) -> Metric:
    metric = _empty(family)
    names = ("cluster", *family.labels)
    for cluster in counters.clusters.copy().values():
        for values, number in breaks.between(family.rows(cluster)):
            labels = dict(zip(names, (cluster.name, *values), strict=True))
            if isinstance(number, Histogram):
                _add_histogram(metric, labels, number)
            else:
                metric.samples.append(Sample(family.name, labels, number))
    for values, amount in () if family.of_process is None else family.of_process(counters):
        metric.samples.append(Sample(family.name, dict(zip(names, ("", *values), strict=True)), amount))
    metric.samples = _Samples(metric.samples, breaks)
    return metric


def _process_metric(family: Family[ProcessRows], counters: Counters) -> Metric:
    metric = _empty(family)
    for values, number in family.rows(counters):
        labels = dict(zip(family.labels, values, strict=True))
        if isinstance(number, LoopLag):
            _add_histogram(metric, labels, number, _LAG_LE)
        elif isinstance(number, Histogram):
            _add_histogram(metric, labels, number)
        else:
            metric.samples.append(Sample(family.name, labels, number))
    return metric


class CountersCollector(Collector):
    """Turns `Counters` into metric families. The counters change meanwhile, so values are a moment apart."""

    def __init__(self, counters: Counters, breaks: Breaks) -> None:
        self._counters = counters
        self._breaks = breaks

    def collect(self) -> Iterator[Metric]:
        """Yield the families that have at least one series."""
        build = {
            "version": __version__,
            "python_version": platform.python_version(),
            "compiled": str(is_compiled()).lower(),
        }
        yield InfoMetricFamily("kproxy_build", "What runs here.", value=build)
        yield GaugeMetricFamily(
            "kproxy_start_time_seconds", "When kproxy started, since the Unix epoch.", value=self._counters.started_at
        )
        of_clusters = (_metric(family, self._counters, self._breaks) for family in FAMILIES)
        of_process = (_process_metric(family, self._counters) for family in PROCESS_FAMILIES)
        yield from (metric for metric in chain(of_clusters, of_process) if metric.samples)


def registry_for(counters: Counters) -> CollectorRegistry:
    """Return a registry of the counters and of the process's own metrics (CPU, memory, descriptors), for one page."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(CountersCollector(counters, Breaks()))
    ProcessCollector(registry=registry)
    return registry


def render(registry: CollectorRegistry, *, as_openmetrics: bool = False, compress: bool = False) -> tuple[str, bytes]:
    """Return the content type and the page. It takes 100 ms or more for thousands of series: call it in a thread."""
    if as_openmetrics:
        content_type, page = openmetrics.CONTENT_TYPE_LATEST, openmetrics.generate_latest(registry)  # type: ignore[no-untyped-call]
    else:
        content_type, page = CONTENT_TYPE_PLAIN_0_0_4, generate_latest(registry)
    # Level 1: half the time of level 6 for a page that is a tenth of its size either way.
    return content_type, gzip.compress(page, 1) if compress else page
