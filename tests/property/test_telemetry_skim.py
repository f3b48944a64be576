"""The skim counts what protobuf would read, for any payload; malformed bytes raise the room's error only."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any, Final

import pytest
from google.protobuf.message import DecodeError, Message
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.telemetry.errors import PayloadError
from kproxy.telemetry.skim import KEY_VALUE, METRIC, QUANTILE, RESOURCE_METRICS, SCOPE_METRICS, Bounds, Skim, skim
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.telemetry.clients import metrics

UNBOUNDED: Final = Bounds(points=1 << 40, attributes=1 << 40, buckets=1 << 40, fields=1 << 40)
FUZZED: Final = 10_000

text = st.text(max_size=20)
number = st.floats(allow_nan=False, width=64)
values: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.one_of(
        st.fixed_dictionaries({"string_value": text}),
        st.fixed_dictionaries({"int_value": st.integers(-(2**63), 2**63 - 1)}),
        st.fixed_dictionaries({"double_value": number}),
        st.just({}),
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"array_value": st.fixed_dictionaries({"values": st.lists(inner, max_size=3)})}),
        st.fixed_dictionaries(
            {
                "kvlist_value": st.fixed_dictionaries(
                    {"values": st.lists(st.fixed_dictionaries({"key": text, "value": inner}), max_size=3)}
                )
            }
        ),
    ),
    max_leaves=5,
)
attributes = st.lists(st.fixed_dictionaries({"key": text, "value": values}), max_size=4)
exemplars = st.lists(st.fixed_dictionaries({"filtered_attributes": attributes, "as_double": number}), max_size=2)
counts = st.lists(st.integers(0, 2**64 - 1), max_size=6)
_point = {"attributes": attributes, "time_unix_nano": st.integers(0, 2**63)}
numbers = st.lists(st.fixed_dictionaries({**_point, "as_double": number, "exemplars": exemplars}), max_size=3)
histograms = st.lists(
    st.fixed_dictionaries({**_point, "bucket_counts": counts, "explicit_bounds": st.lists(number, max_size=5)}),
    max_size=3,
)
buckets = st.fixed_dictionaries({"offset": st.integers(-5, 5), "bucket_counts": counts})
exponentials = st.lists(st.fixed_dictionaries({**_point, "positive": buckets, "negative": buckets}), max_size=3)
quantiles = st.lists(st.fixed_dictionaries({"quantile": number, "value": number}), max_size=4)
summaries = st.lists(st.fixed_dictionaries({**_point, "quantile_values": quantiles}), max_size=3)
kinds = st.one_of(
    *(
        st.fixed_dictionaries({kind: st.fixed_dictionaries({"data_points": points})})
        for kind, points in (
            ("gauge", numbers),
            ("sum", numbers),
            ("histogram", histograms),
            ("exponential_histogram", exponentials),
            ("summary", summaries),
        )
    )
)
metric = st.builds(lambda name, kind: {"name": name, **kind}, text, kinds)
scopes = st.lists(
    st.fixed_dictionaries(
        {
            "scope": st.fixed_dictionaries({"name": text, "attributes": attributes}),
            "metrics": st.lists(metric, max_size=4),
        }
    ),
    max_size=3,
)
resources = st.lists(
    st.fixed_dictionaries({"resource": st.fixed_dictionaries({"attributes": attributes}), "scope_metrics": scopes}),
    max_size=3,
)


def messages(of: Message) -> Iterable[Message]:
    """A message and all within it, as protobuf holds them."""
    yield of
    for field, held in of.ListFields():
        if field.message_type is not None:
            for each in [held] if isinstance(held, Message) else held:
                yield from messages(each)


def counted(data: MetricsData) -> dict[str, int]:
    """Messages by name, and the numbers of buckets, bounds and quantiles."""
    found: dict[str, int] = {"numbers": 0}
    for each in messages(data):
        name = each.DESCRIPTOR.name
        found[name] = found.get(name, 0) + 1
        for repeated in ("bucket_counts", "explicit_bounds", "quantile_values"):
            found["numbers"] += len(getattr(each, repeated, ()))
    return found


def agrees(payload: bytes, data: MetricsData) -> bool:
    """Whether the skim's counts are the library's."""
    ours, theirs = skim(payload, UNBOUNDED), counted(data)
    points = sum(count for name, count in theirs.items() if name.endswith("DataPoint"))
    by_kind = {
        RESOURCE_METRICS: "ResourceMetrics",
        SCOPE_METRICS: "ScopeMetrics",
        METRIC: "Metric",
        KEY_VALUE: "KeyValue",
        QUANTILE: "ValueAtQuantile",
    }
    assert {name: ours.messages[kind] for kind, name in by_kind.items()} == {
        name: theirs.get(name, 0) for name in by_kind.values()
    }
    assert sum(ours.messages) == sum(count for name, count in theirs.items() if name not in ("numbers", "MetricsData"))
    return (ours.points, ours.buckets) == (points, theirs["numbers"])


@settings(max_examples=60, deadline=None)
@given(resources)
def test_it_counts_what_protobuf_reads(given_resources: list[dict[str, Any]]) -> None:
    """Every kind of metric, attribute and list; nested values."""
    data = MetricsData(resource_metrics=given_resources)  # type: ignore[arg-type]
    assert agrees(data.SerializeToString(), data)


def parsed(payload: bytes) -> MetricsData | None:
    """What protobuf reads; None if it refuses."""
    try:
        data: MetricsData = MetricsData.FromString(payload)
    except DecodeError:
        return None
    return data


def skimmed(payload: bytes) -> Skim | None:
    """The skim's counts; None if it refuses, which is an error 87."""
    try:
        return skim(payload, UNBOUNDED)
    except PayloadError as error:
        return None if error.code == ErrorCode.INVALID_RECORD else pytest.fail(str(error))


@pytest.mark.parametrize("seed", range(3))
def test_mutated_bytes(seed: int) -> None:
    """The skim raises PayloadError only, and only for bytes that protobuf refuses too; it misses no message."""
    rng = random.Random(seed)
    body, refused = metrics(4), 0
    for _ in range(FUZZED):
        changed = bytearray(body)
        for _ in range(rng.randrange(1, 4)):
            changed[rng.randrange(len(body))] = rng.choice([0, 1, 2, 0x0A, 0x12, 0x7F, 0x80, 0xFF, rng.getrandbits(8)])
        payload = bytes(changed[: rng.randrange(len(body))] if rng.random() < 0.2 else changed)
        data, found = parsed(payload), skimmed(payload)
        refused += found is None
        if data is not None:
            assert found is not None
            assert sum(found.messages) >= sum(1 for _ in messages(data)) - 1
    assert FUZZED / 10 < refused < FUZZED
