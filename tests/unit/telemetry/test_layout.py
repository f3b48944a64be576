"""kproxy.telemetry.layout: numbers that are read without decoding, and payloads that are distinguished."""

from __future__ import annotations

from math import isnan, nan

import pytest
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.telemetry.layout import MAX_BYTES, LastPayload, Layouts, layout, template_of
from tests.unit.telemetry.receivers.pushes import gauge, metrics, total


def payload(value: float, *, start: int = 1, rack: str = "r1", name: str = "sent", topic: str = "x" * 200) -> bytes:
    """A payload of an integer, which is always the same, and a double; one has a long attribute."""
    data = metrics(total("t", 7, start=start, topic=topic), gauge(name, value), resource={"client_rack": rack})
    encoded: bytes = data.SerializeToString()
    return encoded


def test_numbers_are_those_of_the_data_points() -> None:
    """Integers and doubles, in their order; also for payloads that the layout was not made from."""
    found = layout(payload(1.5))
    assert found is not None
    assert found.numbers(payload(1.5)) == (7, 1.5)
    assert found.numbers(payload(-0.25, start=10**18)) == (7, -0.25)
    assert isnan(found.numbers(payload(nan))[1])


def test_the_hash_is_of_all_but_times_and_numbers() -> None:
    """The hash is the same for all times and values; it differs when a name or an attribute differs."""
    found = layout(payload(1.5))
    assert found is not None
    assert found.template_hash(payload(1.5)) == found.template_hash(payload(nan, start=9)) is not None
    for other in (payload(1.5, rack="r2"), payload(1.5, name="lost"), payload(1.5, topic="y" * 200)):
        assert len(other) == found.size
        assert found.template_hash(other) != found.template_hash(payload(1.5))


def test_a_payload_of_another_size_is_another() -> None:
    """It has no hash in this layout."""
    found = layout(payload(1.5))
    assert found is not None
    assert found.template_hash(payload(1.5, rack="r11")) is None


def test_like_payloads_share_a_layout() -> None:
    """There is one object for a fleet, not one for each instance."""
    assert layout(payload(1.5)) is layout(payload(2.5, rack="r9"))


def test_all_but_numbers_of_points_belongs_to_the_template() -> None:
    """Histograms, unknown fields and varints belong to the template."""
    data = MetricsData()
    metric = data.resource_metrics.add().scope_metrics.add().metrics.add(name="h")
    point = metric.histogram.data_points.add(count=3, sum=1.0, explicit_bounds=[1.0], bucket_counts=[1, 2])
    found = layout(data.SerializeToString())
    assert found is not None
    before = found.template_hash(data.SerializeToString())
    assert found.numbers(data.SerializeToString()) == ()
    point.sum = 2.0
    assert found.template_hash(data.SerializeToString()) != before


def test_a_fixed_number_elsewhere_belongs_to_the_template() -> None:
    """For example in a field that OTLP does not have."""
    found = layout(b"\x49" + bytes(8))
    assert found is not None
    assert found.template_hash(b"\x49" + bytes(8)) != found.template_hash(b"\x49" + bytes(7) + b"\1")


def test_nothing_at_all() -> None:
    """An empty payload has no numbers."""
    found = layout(b"")
    assert found is not None
    assert found.numbers(b"") == ()


@pytest.mark.parametrize(
    "malformed",
    [
        b"\x0a",  # no length
        b"\x0a\x80",  # a length that does not end
        b"\x0a\x09\x12\x07\x12\x05\x2a\x03\x0a\x01",  # ends within
        b"\x0a\x0f\x12\x0d\x12\x0b\x2a\x09\x0a\x07\x21\x00\x00\x00\x00\x00\x00",  # ends within a number
        b"\x0b",  # a group
        b"\x8d\x01\x00\x00\x00\x00",  # four bytes of an unknown field
        b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",  # a negative number where there is none
    ],
)
def test_what_is_no_metrics_data(malformed: bytes) -> None:
    """It has no layout, and nothing is raised for it."""
    assert layout(malformed) is None


def test_what_is_large_is_not_looked_through() -> None:
    """The search would delay others for too long."""
    assert layout(b"\x0a\0" * (MAX_BYTES // 2)) is not None
    assert layout(b"\x0a\0" * (MAX_BYTES // 2 + 1)) is None


def test_templates_of_payloads() -> None:
    """Equal if all but times and numbers is equal; None without a layout."""
    assert template_of(payload(1.5)) == template_of(payload(nan, start=9)) is not None
    assert template_of(payload(1.5)) != template_of(payload(1.5, name="lost"))
    assert template_of(b"\x0a") is None


def test_like_the_last_one() -> None:
    """From the third payload of a template on it is recognised at once. Any other is decoded and begins anew."""
    last = LastPayload()
    assert last.match(payload(1.0)) is None
    assert last.learn(payload(1.0)) is None
    assert last.match(payload(2.0)) is None
    learned = last.learn(payload(2.0))
    assert learned is not None
    assert last.match(payload(3.0)) is learned
    assert last.match(payload(3.0, name="lost")) is None
    assert last.learn(payload(3.0, name="lost")) is not None
    assert last.match(payload(4.0)) is None


def test_sizes_that_change_are_not_looked_through() -> None:
    """No layout is searched for a client whose payloads change their size each time."""
    last = LastPayload()
    for rack in ("r", "rr", "r", "rr"):
        assert last.learn(payload(1.0, rack=rack)) is None


def formats(number: int) -> tuple[str, str]:
    """Formats of a layout of one number that no other layout has."""
    return f"<{number}s8x", f"<{number}xd"


def test_layouts_are_kept_in_bounded_memory() -> None:
    """A layout of its own for each made-up instance: the first are forgotten, and those that are learnt again stay."""
    layouts = Layouts(most=40 * 17)
    first = layouts.shared(*formats(1), 1)
    for number in range(1000):
        layouts.shared(*formats(2 + number), 1)
        assert layouts.shared(*formats(1), 1) is first
        assert layouts.cost <= 40 * 17
    kept = [first.kept]
    for number in range(40):
        layouts.shared(*formats(5000 + number), 1)
    assert [*kept, first.kept] == [True, False]
    assert layouts.shared(*formats(1), 1) is not first


def test_a_forgotten_layout_matches_nothing() -> None:
    """The next push is decoded, and a layout is found anew from the one after that."""
    last = LastPayload()
    last.learn(payload(1.5))
    template = last.learn(payload(2.5))
    assert template is not None
    assert last.match(payload(3.5)) is template
    template.layout.forget()
    assert last.match(payload(4.5)) is None
    assert last.match(b"") is None
