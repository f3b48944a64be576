"""What a payload holds is counted before protobuf reads it: the counts, the bounds, and malformed bytes."""

from __future__ import annotations

import struct
from typing import Final

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.telemetry.errors import PayloadError
from kproxy.telemetry.skim import (
    DEFAULT_BOUNDS,
    FIELDS_AT_ONCE,
    KEY_VALUE,
    MAX_DEPTH,
    MESSAGES,
    METRIC,
    METRICS_DATA,
    RESOURCE_METRICS,
    Bounds,
    Skim,
    skim,
    slices,
)
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.primitives import uvarint
from tests.unit.telemetry.clients import JAVA, NOW, metrics, request, telemetry, wide

PACKED: Final = {FieldDescriptor.TYPE_DOUBLE: 1, FieldDescriptor.TYPE_FIXED64: 1, FieldDescriptor.TYPE_UINT64: 2}
TOO_LARGE, MALFORMED = ErrorCode.TELEMETRY_TOO_LARGE, ErrorCode.INVALID_RECORD


def field(number: int, content: bytes) -> bytes:
    """A length-delimited field."""
    return bytes([number << 3 | 2]) + uvarint(len(content)) + content


def point(content: bytes, times: int = 1) -> bytes:
    """A payload of one gauge, with the same data point several times."""
    return field(1, field(2, field(2, field(1, b"m") + field(5, field(1, content) * times))))


def refusal(payload: bytes, bounds: Bounds = DEFAULT_BOUNDS) -> tuple[int, str]:
    """The error code and the reason."""
    with pytest.raises(PayloadError) as caught:
        skim(payload, bounds)
    return caught.value.code, caught.value.reason


def described(message: Descriptor, known: dict[str, dict[int, object]]) -> dict[str, dict[int, object]]:
    """What protobuf says of a message and all that it holds: its fields that are messages, or lists of numbers."""
    fields: dict[int, object] = {}
    if message.name not in known:
        known[message.name] = fields
        for each in message.fields:
            if each.message_type is not None:
                fields[each.number] = each.message_type.name
                described(each.message_type, known)
            elif each.is_repeated and each.type in PACKED:
                fields[each.number] = PACKED[each.type]
    return known


def test_the_table_is_that_of_otlp() -> None:
    """Every message that OTLP's metrics can hold is walked: what were left out could hold anything, uncounted."""
    alike: dict[str, int] = {}

    def compare(name: str, number: int) -> None:
        if name in alike:
            assert alike[name] == number
            return
        alike[name] = number
        theirs, ours = known[name], MESSAGES[number]
        assert set(theirs) == set(ours), name
        for key, held in theirs.items():
            if isinstance(held, str):
                compare(held, ours[key])
            else:
                assert ours[key] == held, (name, key)

    known = described(MetricsData.DESCRIPTOR, {})
    compare("MetricsData", METRICS_DATA)
    assert set(alike) == set(known)


def test_what_is_counted() -> None:
    """Messages by kind, points, buckets and quantiles, and the fields of all."""
    data = MetricsData()
    metric = data.resource_metrics.add().scope_metrics.add().metrics.add(name="h")
    metric.histogram.data_points.add(explicit_bounds=[1.0, 2.0], bucket_counts=[1, 2, 3])
    metric = data.resource_metrics[0].scope_metrics[0].metrics.add(name="e")
    metric.exponential_histogram.data_points.add().positive.bucket_counts.extend([1, 300, 70_000])
    metric = data.resource_metrics[0].scope_metrics[0].metrics.add(name="s")
    summary = metric.summary.data_points.add()
    summary.quantile_values.add(quantile=0.5, value=1.0)
    summary.attributes.add(key="k").value.string_value = "v"
    found = skim(data.SerializeToString())
    assert (found.points, found.buckets) == (3, 2 + 3 + 3 + 1)
    assert (found.messages[METRIC], found.messages[KEY_VALUE], found.messages[RESOURCE_METRICS]) == (3, 1, 1)


def test_numbers_that_are_not_packed_count_as_well() -> None:
    """Protobuf takes them in either form."""
    loose = b"\x31" + struct.pack("<Q", 7) + b"\x39" + struct.pack("<d", 1.0)
    assert skim(field(1, field(2, field(2, field(9, field(1, loose)))))).buckets == 2
    loose = field(8, b"\x10\x05\x10\x90\x03")
    assert skim(field(1, field(2, field(2, field(10, field(1, loose)))))).buckets == 2


ATTACKS: Final[dict[str, tuple[bytes, str]]] = {
    "a data point of 510,000 empty attributes": (point(field(7, b"") * 510_000), "attributes"),
    "a resource of 24,000 attributes with our name": (
        field(1, field(1, field(1, field(1, b"client_id")) * 24_000 + field(1, b"") * 367_000)),
        "attributes",
    ),
    "500,000 empty points": (point(b"", 500_000), "points"),
    "120,000 empty points": (point(b"", 30_000) * 4, "points"),
    "500,000 empty resources": (field(1, b"") * 500_000, "points"),
    "500,000 empty metrics": (field(1, field(2, field(2, b"") * 500_000)), "points"),
    "120,000 empty metrics": (field(1, field(2, field(2, b"") * 30_000)) * 4, "points"),
    "500,000 times nothing": (b"\x78\x00" * 500_000, "fields"),
    "lists in an attribute": (point(field(7, field(2, field(5, field(1, b"") * 500_000)))), "fields"),
    "attributes in an attribute": (point(field(7, field(2, field(6, field(1, b"") * 500_000)))), "attributes"),
    "131,072 buckets": (field(1, field(2, field(2, field(9, field(1, field(6, bytes(1 << 20))))))), "buckets"),
    "a million small buckets": (
        field(1, field(2, field(2, field(10, field(1, field(8, field(2, bytes(1 << 20)))))))),
        "buckets",
    ),
    "500,000 quantiles": (field(1, field(2, field(2, field(11, field(1, field(6, b"") * 500_000))))), "buckets"),
    "buckets of many points": (
        field(1, field(2, field(2, field(9, field(1, field(6, bytes(8000))) * 130)))),
        "fields",
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_the_walk_ends_where_a_bound_is_passed(attack: str) -> None:
    """Row 1: 118, as for a large push, after as much work as for the largest push that is allowed."""
    payload, reason = ATTACKS[attack]
    found = Skim(payload, DEFAULT_BOUNDS)
    with pytest.raises(PayloadError) as caught:
        found.run()
    assert (caught.value.code, caught.value.reason) == (TOO_LARGE, reason)
    visited = sum(found.messages) if reason == "buckets" else found.fields  # packed numbers are counted at once
    assert visited <= FIELDS_AT_ONCE + DEFAULT_BOUNDS.buckets


@pytest.mark.parametrize("attack", ATTACKS)
def test_such_a_push_is_refused(attack: str) -> None:
    """Rows 1 and 3, as pushed: 118, counted by its reason, and shown for the instance. Before, it was accepted."""
    payload, reason = ATTACKS[attack]
    server = telemetry(max_bytes=2 << 20)
    answer, push = server.push(JAVA, request(server, payload=payload), NOW)
    assert (answer.error_code, push) == (TOO_LARGE, None)
    assert {name: count for name, count in server.tally.refused.items() if count} == {reason: 1}
    (instance,) = server.instances
    assert reason in instance.last_error_reason


def test_what_is_within_the_bounds_is_accepted() -> None:
    """Exactly as many as allowed, and one more."""
    payload = point(field(7, b"") * 3, 2)
    counts = skim(payload)
    exact = Bounds(points=2, attributes=3, buckets=1, fields=counts.fields)
    assert skim(payload, exact).points == 2
    assert refusal(payload, exact._replace(points=1)) == (TOO_LARGE, "points")
    assert refusal(payload, exact._replace(attributes=2)) == (TOO_LARGE, "attributes")
    assert refusal(payload, exact._replace(fields=counts.fields - 1)) == (TOO_LARGE, "fields")


def test_real_pushes_have_a_factor_of_ten() -> None:
    """Java's largest push has 25 KB: ten times as much is far from every bound, also where one resource has all."""
    found = skim(metrics(3_000))
    assert (found.points, len(metrics(3_000)) > 150_000) == (3_000, True)
    assert found.fields < FIELDS_AT_ONCE / 2


def test_slices_are_the_whole() -> None:
    """Of many resources a few hundred each, of one all; each begins with a resource, and the counts add up."""
    payload = wide(400)
    places = list(slices(payload))
    assert [start for start, _ in places] == [0, *[end for _, end in places[:-1]]]
    assert places[-1][1] == len(payload)
    assert all((32 << 10) <= end - start < 33 << 10 for start, end in places[:-1])
    each = [skim(payload[start:end]) for start, end in places]
    whole = skim(payload)
    assert (sum(one.points for one in each), sum(one.fields for one in each)) == (whole.points, whole.fields)
    assert whole.points == 2_400
    assert list(slices(metrics(3_000))) == [(0, len(metrics(3_000)))]
    assert list(slices(b"")) == []


@pytest.mark.parametrize("end", [b"\x12\x00", b"\x0a", b"\x0a\xff\xff\xff\xff\xff\xff\xff", b"\x0a\x05abc"])
def test_a_slice_has_what_cannot_be_read(end: bytes) -> None:
    """From another field on, or a size without an end, all that is left is one slice."""
    payload = wide(100) + end + wide(200)
    places = list(slices(payload))
    assert places[-1][1] == len(payload)
    assert places[-1][0] <= len(wide(100)) + 20  # what follows is taken for a resource's size, and ends soon


def test_a_large_resource_is_a_slice() -> None:
    """Whatever small ones stand before and behind it."""
    small, large = field(1, b""), metrics(1_000)
    assert list(slices(small + large + small)) == [(0, 2), (2, 2 + len(large)), (2 + len(large), 4 + len(large))]


def test_numbers_of_a_megabyte_are_not_looked_at() -> None:
    """As many bytes as no number has: `buckets`, before they are copied."""
    packed = field(2, b"\x80" * (1 << 20))
    assert refusal(field(1, field(2, field(2, field(10, field(1, field(8, packed))))))) == (TOO_LARGE, "buckets")


def test_crumbs_are_as_few_as_in_a_small_push() -> None:
    """Half a million empty resources, or fields, are not what a push of a megabyte has."""
    for crumb, most in ((field(1, b""), 16_384), (b"\x0a\x02\x78\x00", 16_384)):
        found = Skim(crumb * ((1 << 20) // len(crumb)), DEFAULT_BOUNDS)
        with pytest.raises(PayloadError, match="more than 16384 points in one push"):
            found.run()
        assert found.messages[RESOURCE_METRICS] == most + 1
    crumbs = Skim(field(1, b"\x78\x00" * 10_000) * 52, DEFAULT_BOUNDS)
    with pytest.raises(PayloadError, match="more than 260052 fields in one push"):
        crumbs.run()


def test_one_resource_has_a_bound_of_its_own() -> None:
    """It is counted in one step, however much the push may have."""
    resource = field(1, field(2, field(2, field(1, b"m" * 200)) * 29_000))
    assert skim(resource * 3).fields == 3 * 58_002
    assert refusal(field(1, field(2, field(2, field(1, b"m" * 200)) * 31_000))) == (TOO_LARGE, "fields")


MAKES_MALFORMED: Final[dict[str, bytes]] = {
    "a tag without a field": b"\x0a",
    "a size behind the end": b"\x0a\x05\x12",
    "a size that never ends": b"\x0a" + b"\xff" * 12,
    "a tag that never ends": b"\xff" * 12,
    "a number that never ends": b"\x08" + b"\xff" * 12,
    "a fixed number that is cut": b"\x09\0\0",
    "a message longer than the one around it": b"\x0a\x02\x12\x05\0\0\0\0\0",
    "no wire type": b"\x0e\0",
}


@pytest.mark.parametrize("what", MAKES_MALFORMED)
def test_malformed(what: str) -> None:
    """87, as protobuf would say."""
    assert refusal(MAKES_MALFORMED[what]) == (MALFORMED, "")


def nested(levels: int) -> bytes:
    """An attribute of lists in lists: this many messages, one within the other, beside the payload itself."""
    content = b""
    for level in range(levels - 6):
        content = field(5 if level % 2 else 1, content)
    return point(field(7, field(2, content)))


def test_lists_in_lists_are_walked_as_deep_as_protobuf_goes() -> None:
    """What protobuf takes is walked to its end; deeper than that both refuse."""
    deepest = max(levels for levels in range(8, 120, 2) if _decodes(nested(levels)))
    assert skim(nested(deepest)).points == 1
    assert refusal(nested(MAX_DEPTH + 20)) == (MALFORMED, "")


def _decodes(payload: bytes) -> bool:
    try:
        MetricsData.FromString(payload)
    except Exception:  # any of protobuf's
        return False
    return True


@pytest.mark.parametrize(
    ("payload", "fields"),
    [
        (b"", 0),
        (b"\x0a\0", 1),
        (b"\x0d\0\0\0\0", 1),
        (b"\xba\x3e\0", 1),
        (b"\x8a\x80\0\0", 1),
        (b"\x0b\x0c", 2),
        (b"\xba\xbe\x80\x80\x80\x80\x80\x80\x80\0\0", 1),
    ],
)
def test_fields_that_no_client_writes(payload: bytes, fields: int) -> None:
    """Empty, fixed32, a high field number, a tag or a size with more bytes than it needs, a group: each counts."""
    assert skim(payload).fields == fields
