# This module is pure (no I/O, no clock).
"""A push as lines of JSON: one for each different resource, so that Spark reads columns and not text.

The task of the `files` receiver calls `lines` for each push. Java's clients repeat their resource for every metric; it
is one line all the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import _lru_cache_wrapper, lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from kproxy.observe.events import iso
from kproxy.telemetry.receivers.otlp_points import attributes_of, number
from kproxy.telemetry.receivers.resource import MAX_RESOURCES
from kproxy.telemetry.subscription import kafka_text

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import KeyValue
    from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

    from kproxy.telemetry.payload import Push

_GROWTH: Final = 8
"""How many times the size of its push a line may have, besides a mebibyte. Each point repeats the metric's name: Java's
lines have twice the size, librdkafka's six times; thousands of points of a long name would fill the memory."""
STEP: Final = 100
"""Points and metrics between two moments at which others get their turn."""

_NO_VALUE: Final = 1
_MAX_CACHED: Final = 512  # characters
_TEMPORALITY: Final = {1: "delta", 2: "cumulative"}
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def lines(push: Push, constant: Mapping[str, str]) -> Iterator[bytes | None]:
    """Yield the lines, each with its newline; None is a step in between.

    Every line has the `constant` columns. Raise ValueError for more than `MAX_RESOURCES` different resources, and for
    lines that would be far larger than their push.
    """
    by_resource: dict[str, list[bytes]] = {}
    room = _GROWTH * len(push.payload) + (1 << 20)
    for step, (resource, point) in enumerate(_with_resources(push), 1):
        points = by_resource.setdefault(resource, [])
        if point is not None:
            # A client's text may hold half of a surrogate pair, which UTF-8 cannot.
            points.append(point.encode("utf-8", "replace"))
            room -= len(points[-1])
        if len(by_resource) > MAX_RESOURCES:
            raise ValueError(f"MetricsData with more than {MAX_RESOURCES} resources")
        if room < 0:
            raise ValueError(
                f"MetricsData of {len(push.payload)} bytes whose names make more than {_GROWTH} times as many"
            )
        if not step % STEP:
            yield None
    head = _encode(_client(push) | dict(constant))[:-1]
    for resource, points in by_resource.items():
        before = f'{head},"resource":{resource},"metrics":['.encode("utf-8", "replace")
        yield b"%b%b]}\n" % (before, b",".join(points))


def _with_resources(push: Push) -> Iterator[tuple[str, str | None]]:
    """Yield the points, each with the attributes of its resource, as JSON; None for all else that takes time."""
    for part in push.parts():
        for one in part.resource_metrics:
            resource = _cached(_attributes, *_texts(one.resource.attributes))
            yield resource, None
            for scope in one.scope_metrics:
                yield resource, None
                for metric in scope.metrics:
                    for point in _points(metric):
                        yield resource, point


def _client(push: Push) -> dict[str, Any]:
    info = push.info
    return {
        "received_at": iso(push.received_at),
        "client_instance_id": kafka_text(info.client_instance_id),
        "client_id": info.client_id,
        "client_software_name": info.software_name,
        "client_software_version": info.software_version,
        "client_source_address": info.source_address,
        "client_source_port": info.source_port,
        "principal": info.principal,
        "terminating": push.terminating,
    }


def _points(metric: Metric) -> Iterator[str | None]:
    yield None
    form = metric.WhichOneof("data")
    if form is None:
        return
    data = getattr(metric, form)
    temporality = _TEMPORALITY.get(getattr(data, "aggregation_temporality", 0))
    monotonic = data.is_monotonic if form == "sum" else None
    about = _cached(_about, metric.name, form, metric.unit, temporality, monotonic)
    value = _VALUES[form]
    for point in data.data_points:
        if point.flags & _NO_VALUE:
            yield None
        else:
            start, end = point.start_time_unix_nano or "null", point.time_unix_nano or "null"
            attributes = _cached(_attributes, *_texts(point.attributes))
            yield f'{about},"start_unix_nano":{start},"unix_nano":{end},"attributes":{attributes},{value(point)}}}'


def _texts(attributes: Iterable[KeyValue]) -> Iterator[str]:
    """Yield names and values in turn."""
    return (text for pair in attributes_of(attributes) for text in pair)


@lru_cache(8192)
def _about(name: str, form: str, unit: str, temporality: str | None, monotonic: bool | None) -> str:
    """Return the beginning of a point's object. It is cached: clients push the same metrics again and again."""
    about = {"name": name, "kind": form, "unit": unit, "temporality": temporality, "monotonic": monotonic}
    return _encode(about)[:-1]


@lru_cache(8192)
def _attributes(*texts: str) -> str:
    """Return the object of names and values, given in turn."""
    return _encode(dict(zip(texts[::2], texts[1::2], strict=True)))


def _cached(function: _lru_cache_wrapper[str], *arguments: Any) -> str:
    """Call a cached function. A key that is longer than anything that Kafka's clients push bypasses the cache."""
    short = sum(len(each) for each in arguments if isinstance(each, str)) <= _MAX_CACHED
    return function(*arguments) if short else function.__wrapped__(*arguments)


def _finite(value: float) -> float | None:
    # JSON has neither NaN nor infinity.
    return value if isfinite(value) else None


def _numeric(point: Any) -> str:
    value = number(point)
    return f'"value":{value!r}' if value is not None and isfinite(value) else '"value":null'


def _counted(point: Any) -> dict[str, Any]:
    return {"count": point.count, "sum": _finite(point.sum)}


def _histogram(point: Any) -> str:
    bounds = [_finite(bound) for bound in point.explicit_bounds]
    return _inner(_counted(point) | {"bounds": bounds, "buckets": list(point.bucket_counts)})


def _exponential(point: Any) -> str:
    sides = {"positive": point.positive, "negative": point.negative}
    counts = {side: {"offset": each.offset, "buckets": list(each.bucket_counts)} for side, each in sides.items()}
    return _inner(_counted(point) | {"scale": point.scale, "zero_count": point.zero_count} | counts)


def _summary(point: Any) -> str:
    quantiles = [{"quantile": _finite(each.quantile), "value": _finite(each.value)} for each in point.quantile_values]
    return _inner(_counted(point) | {"quantiles": quantiles})


def _inner(value: dict[str, Any]) -> str:
    return _encode(value)[1:-1]


_VALUES: Final = {
    "gauge": _numeric,
    "sum": _numeric,
    "histogram": _histogram,
    "exponential_histogram": _exponential,
    "summary": _summary,
}
