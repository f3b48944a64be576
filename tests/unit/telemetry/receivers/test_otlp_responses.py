"""kproxy.telemetry.receivers.otlp_responses: the meaning of an answer."""

from __future__ import annotations

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse

from kproxy.delivery.batches import Verdict
from kproxy.telemetry.receivers.otlp_responses import complaint, retry_after, verdict


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((200, 202, 204), Verdict.DELIVERED),
        ((429, 502, 503, 504), Verdict.AGAIN),
        ((400, 413), Verdict.APART),
        ((301, 308, 401, 403, 404, 500, 501), Verdict.REFUSED),
    ],
)
def test_statuses(statuses: tuple[int, ...], expected: Verdict) -> None:
    """As in OTLP/HTTP's specification."""
    assert {verdict(status) for status in statuses} == {expected}


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("7", 7.0),
        ("99999", 3600.0),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 70.0),
        ("Thu, 01 Jan 1970 00:01:40 -0000", 70.0),
        ("Thu, 01 Jan 1970 00:00:10 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("٣", None),
    ],
)
def test_retry_after(value: str, seconds: float | None) -> None:
    """Seconds or a date, an hour at most; any other value counts as absent."""
    assert retry_after({"retry-after": value}, now=30.0) == seconds


def test_no_retry_after() -> None:
    """As in most answers."""
    assert retry_after({}, now=0.0) is None


def test_complaints() -> None:
    """A partial success says what was rejected; any other body says nothing."""
    partial = ExportMetricsServiceResponse()
    partial.partial_success.rejected_data_points = 3
    partial.partial_success.error_message = "too old"
    assert complaint(partial.SerializeToString()) == "3 data points rejected: too old"
    partial.partial_success.rejected_data_points = 0
    assert complaint(partial.SerializeToString()) == "too old"
    assert complaint(b"") is None
    assert complaint(b'{"partialSuccess":{}}') is None
