"""A push: its bytes, and its metrics, which stay decoded until `release`."""

from __future__ import annotations

import pytest

from kproxy.telemetry.errors import PayloadError
from kproxy.telemetry.payload import Push, decode, parts
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.telemetry.clients import JAVA, NOW, metrics


@pytest.mark.parametrize("payload", [b"\x0a", b"not protobuf", b"\x0a\x04\x12\x09", b"\xff" * 20])
def test_statement_what_cannot_be_decoded_is_87(payload: bytes) -> None:
    """telemetry.md: cannot be decoded → 87."""
    with pytest.raises(PayloadError, match="not OTLP MetricsData") as caught:
        decode(payload)
    assert caught.value.code == ErrorCode.INVALID_RECORD


def test_statement_wire_identical_to_an_export_request() -> None:
    """telemetry.md: MetricsData is wire-identical to ExportMetricsServiceRequest."""
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

    export = ExportMetricsServiceRequest.FromString(metrics(3))
    assert [metric.name for metric in export.resource_metrics[0].scope_metrics[0].metrics] == [
        f"org.apache.kafka.producer.metric.{number}" for number in range(3)
    ]
    assert export.SerializeToString() == metrics(3)


def test_decoded_once_until_released() -> None:
    """Receivers that are offered a push share its metrics; a push in a queue holds only its bytes."""
    push = Push(JAVA, NOW, metrics(2), terminating=True)
    assert push.metrics is push.metrics
    push.release()
    first, second = push.metrics, push.metrics
    assert first is not second
    assert first == second == decode(metrics(2))


def test_metrics_that_were_decoded_before_are_not_again() -> None:
    """The check of a push decodes it anyway."""
    decoded = decode(metrics())
    assert Push(JAVA, NOW, metrics(), metrics=decoded).metrics is decoded


def test_a_small_payload_is_one_part() -> None:
    """And its metrics are those that are decoded already."""
    push = Push(JAVA, NOW, metrics(2))
    assert list(parts(metrics(2))) == [metrics(2)]
    assert [part is push.metrics for part in push.parts()] == [True]


def test_attributes_of_a_push() -> None:
    """A push has no other attributes: it must be small, since a queue has many."""
    push = Push(JAVA, NOW, b"bytes", terminating=True, deltas=False)
    assert (push.info, push.received_at, push.payload, push.terminating, push.deltas) == (
        JAVA,
        NOW,
        b"bytes",
        True,
        False,
    )
    assert not hasattr(push, "__dict__")
