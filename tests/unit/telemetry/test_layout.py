"""kproxy.telemetry.layout: numbers that are read without decoding, and payloads that are told apart."""

from __future__ import annotations

from math import isnan, nan

import pytest
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.telemetry.layout import MAX_BYTES, Lately, layout, words
from tests.unit.telemetry.receivers.pushes import gauge, metrics, total


def payload(value: float, *, start: int = 1, rack: str = "r1", name: str = "sent", topic: str = "x" * 200) -> bytes:
    """Of an integer, which stays, and a double, one with a long attribute."""
    data = metrics(total("t", 7, start=start, topic=topic), gauge(name, value), resource={"client_rack": rack})
    encoded: bytes = data.SerializeToString()
    return encoded


def test_numbers_are_those_of_the_data_points() -> None:
    """Integers and doubles, in their order; also of payloads that the layout was not made from."""
    found = layout(payload(1.5))
    assert found is not None
    assert found.numbers(payload(1.5)) == (7, 1.5)
    assert found.numbers(payload(-0.25, start=10**18)) == (7, -0.25)
    assert isnan(found.numbers(payload(nan))[1])


def test_words_are_all_but_times_and_numbers() -> None:
    """The same whatever was measured and when; others when a name or an attribute differs."""
    found = layout(payload(1.5))
    assert found is not None
    assert found.words(payload(1.5)) == found.words(payload(nan, start=9)) is not None
    for other in (payload(1.5, rack="r2"), payload(1.5, name="lost"), payload(1.5, topic="y" * 200)):
        assert len(other) == found.size
        assert found.words(other) != found.words(payload(1.5))


def test_a_payload_of_another_size_is_another() -> None:
    """No words are read of it."""
    found = layout(payload(1.5))
    assert found is not None
    assert found.words(payload(1.5, rack="r11")) is None


def test_like_payloads_share_a_layout() -> None:
    """There is one object for a fleet, not one for each instance."""
    assert layout(payload(1.5)) is layout(payload(2.5, rack="r9"))


def test_what_is_not_a_number_of_a_point_is_a_word() -> None:
    """Histograms, unknown fields and varints are compared."""
    data = MetricsData()
    metric = data.resource_metrics.add().scope_metrics.add().metrics.add(name="h")
    point = metric.histogram.data_points.add(count=3, sum=1.0, explicit_bounds=[1.0], bucket_counts=[1, 2])
    found = layout(data.SerializeToString())
    assert found is not None
    before = found.words(data.SerializeToString())
    assert found.numbers(data.SerializeToString()) == ()
    point.sum = 2.0
    assert found.words(data.SerializeToString()) != before


def test_a_fixed_number_elsewhere_is_a_word() -> None:
    """Of a field that OTLP does not have."""
    found = layout(b"\x49" + bytes(8))
    assert found is not None
    assert found.words(b"\x49" + bytes(8)) != found.words(b"\x49" + bytes(7) + b"\1")


def test_nothing_at_all() -> None:
    """No bytes have no numbers."""
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
        b"\x8d\x01\x00\x00\x00\x00",  # four bytes of a field that there is not
        b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",  # a negative number where there is none
    ],
)
def test_what_is_no_metrics_data(malformed: bytes) -> None:
    """It has no layout, and nothing is raised for it."""
    assert layout(malformed) is None


def test_what_is_large_is_not_looked_through() -> None:
    """It would hold up others for too long."""
    assert layout(b"\x0a\0" * (MAX_BYTES // 2)) is not None
    assert layout(b"\x0a\0" * (MAX_BYTES // 2 + 1)) is None


def test_words_of_a_payload() -> None:
    """Equal where all but times and numbers is, none where there is no layout."""
    assert words(payload(1.5)) == words(payload(nan, start=9)) is not None
    assert words(payload(1.5)) != words(payload(1.5, name="lost"))
    assert words(b"\x0a") is None


def test_like_the_last_one() -> None:
    """From the third like payload on it is told at once; what is unlike has to be decoded, and begins anew."""
    lately = Lately()
    assert lately.like(payload(1.0)) is None
    assert lately.learn(payload(1.0)) is None
    assert lately.like(payload(2.0)) is None
    learned = lately.learn(payload(2.0))
    assert learned is not None
    assert lately.like(payload(3.0)) is learned
    assert lately.like(payload(3.0, name="lost")) is None
    assert lately.learn(payload(3.0, name="lost")) is not None
    assert lately.like(payload(4.0)) is None


def test_sizes_that_change_are_not_looked_through() -> None:
    """Of a client whose payloads are never like each other nothing is found out."""
    lately = Lately()
    for rack in ("r", "rr", "r", "rr"):
        assert lately.learn(payload(1.0, rack=rack)) is None
