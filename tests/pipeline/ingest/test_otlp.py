"""kproxy.pipeline.ingest.otlp_batches: pushes read together give what each gives by itself."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.pipeline.ingest.otlp_batches import Decoder
from kproxy.pipeline.ingest.otlp_messages import resources
from tests.pipeline.written import payload

DEFAULTS = dict.fromkeys(
    ("value", "count", "sum", "bounds", "buckets", "scale", "zero_count", "positive", "negative", "quantiles")
)


def one_by_one(payloads: Sequence[bytes]) -> list[tuple[int, dict[str, str], list[dict[str, Any]]]]:
    """Place, resource and points of each push, read as messages."""
    return [
        (place, resource, [DEFAULTS | row for row in rows])
        for place, each in enumerate(payloads)
        for resource, rows in resources(each)
    ]


def together(decoder: Decoder, payloads: Sequence[bytes]) -> list[tuple[int, dict[str, str], list[dict[str, Any]]]]:
    """The same, read by a decoder."""
    decoded, broken = decoder.decode(payloads)
    assert not broken
    rows = [
        (int(place), dict(resource), [point | {"attributes": dict(point["attributes"])} for point in points])
        for some in decoded
        for place, resource, points in zip(
            some.pushes, some.resources.to_pylist(), some.points.to_pylist(), strict=True
        )
    ]
    return sorted(rows, key=lambda row: row[0])


def test_alike() -> None:
    """Many pushes of many clients, several layouts of one length among them."""
    payloads = [payload(client, turn) for turn in range(4) for client in range(40)]
    decoder = Decoder()
    assert together(decoder, payloads) == one_by_one(payloads)
    assert together(decoder, payloads[::-1]) == one_by_one(payloads[::-1])


def test_broken_ones_are_named() -> None:
    """The others are read."""
    good = [payload(1, turn) for turn in range(5)]
    decoded, broken = Decoder().decode([*good, good[0][:-3], b"\xff\xff", b"nonsense"])
    assert sum(len(some.pushes) for some in decoded) == 5
    assert sorted(broken) == [5, 6, 7]
    assert all(reason.startswith("not OTLP: ") for reason in broken.values())


def test_an_empty_push() -> None:
    """franz-go pushes nothing when nothing changed: a push without points."""
    assert together(Decoder(), [b""] * 5) == []
    empty = MetricsData()
    empty.resource_metrics.add()
    assert together(Decoder(), [empty.SerializeToString()] * 5) == [(place, {}, []) for place in range(5)]


def test_layouts_that_nobody_shares() -> None:
    """They are not looked for again and again: at most 16 for each length."""
    payloads = [_named(f"{number:04}") for number in range(200)]
    decoder = Decoder()
    assert together(decoder, payloads) == one_by_one(payloads)
    assert decoder.layouts == 16


def _named(name: str) -> bytes:
    data = MetricsData()
    point = data.resource_metrics.add().scope_metrics.add().metrics.add(name=name).gauge.data_points.add(as_double=1.5)
    point.time_unix_nano = 1
    encoded: bytes = data.SerializeToString()
    return encoded


def _of_member(member: str, topic: str, last_member: str | None = None) -> bytes:
    """Two metrics as Java pushes them, each with the resource once more."""
    data = MetricsData()
    for name, who in (("m", member), ("n", last_member or member)):
        one = data.resource_metrics.add()
        one.resource.attributes.add(key="group_member_id").value.string_value = who
        point = one.scope_metrics.add().metrics.add(name=name).gauge.data_points.add(as_double=1.5, time_unix_nano=1)
        point.attributes.add(key="topic").value.string_value = topic
    encoded: bytes = data.SerializeToString()
    return encoded


def test_members_of_a_group_share_a_layout() -> None:
    """Each with its own id and topics; also those that are seen later, and more than are kept."""
    payloads = [_of_member(f"{number:04}", f"t{number % 7}") for number in range(5_000)]
    decoder = Decoder()
    for some in (payloads[:50], payloads, payloads[::-1]):
        assert together(decoder, some) == one_by_one(some)
    assert decoder.layouts == 1


def test_two_resources_of_the_same_length() -> None:
    """A push of two members among pushes of one each has both, by itself."""
    payloads = [_of_member("a", "t")] * 3 + [_of_member("a", "t", "b")] * 3 + [_of_member("b", "t")]
    decoder = Decoder()
    assert together(decoder, payloads) == one_by_one(payloads)
    assert sum(len(resources(payload)) for payload in payloads) == 10


def test_attributes_that_are_broken() -> None:
    """Pushes whose bytes are alike but for attributes that are no UTF-8: they are named, and the others are read."""
    good = [_of_member("aa", "tt")] * 4
    broken = [good[0].replace(b"aa", b"\xff\xff"), good[0].replace(b"tt", b"\xff\xff")]
    decoder = Decoder()
    for _ in range(2):
        decoded, found = decoder.decode([*good, *broken])
        assert sum(len(some.pushes) for some in decoded) == 4
        assert sorted(found) == [4, 5]


numbers = st.sampled_from(["gauge", "delta", "cumulative", "histogram", "exponential", "summary", "none", "no value"])


@given(st.lists(st.lists(numbers, max_size=4), min_size=1, max_size=3), st.integers(1, 6), st.integers(0, 99))
def test_any_metrics(resource_metrics: list[list[str]], count: int, seed: int) -> None:
    """Whatever kinds, however often: the same points as by themselves, also where only some are of a layout."""
    rng = random.Random(seed)
    payloads = [_made(resource_metrics, rng) for _ in range(count)]
    payloads += [_made([["gauge"]], rng) for _ in range(3)]
    decoder = Decoder()
    for _ in range(2):
        assert together(decoder, payloads) == one_by_one(payloads)


def _made(resource_metrics: list[list[str]], rng: random.Random) -> bytes:
    data = MetricsData()
    for number, kinds in enumerate(resource_metrics):
        one = data.resource_metrics.add()
        one.resource.attributes.add(key="number").value.int_value = number
        scope = one.scope_metrics.add()
        for kind in kinds:
            _add(scope.metrics.add(name=kind), kind, rng)
    encoded: bytes = data.SerializeToString()
    return encoded


def _add(metric: Any, kind: str, rng: random.Random) -> None:
    last = (1 << 64) - 1
    times = {"time_unix_nano": rng.randrange(1, last), "start_time_unix_nano": rng.choice([0, 1 << 61, last])}
    if kind in ("gauge", "no value"):
        point = metric.gauge.data_points.add(**times)
        if kind == "gauge":
            point.as_double = rng.random()
        else:
            point.flags = rng.choice([0, 1])
    elif kind in ("delta", "cumulative"):
        metric.sum.aggregation_temporality = 1 if kind == "delta" else 2
        metric.sum.data_points.add(as_int=rng.randrange(1 << 40), **times)
    elif kind == "histogram":
        metric.histogram.data_points.add(
            count=rng.choice([3, last]), sum=1.5, explicit_bounds=[1.0], bucket_counts=[1, 2], **times
        )
    elif kind == "exponential":
        point = metric.exponential_histogram.data_points.add(count=2, scale=3, zero_count=1, **times)
        point.positive.bucket_counts.extend([1])
    elif kind == "summary":
        point = metric.summary.data_points.add(count=2, sum=3.0, **times)
        point.quantile_values.add(quantile=0.5, value=1.5)
