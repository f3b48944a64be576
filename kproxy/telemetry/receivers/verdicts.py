# This module is pure.
"""What an OTLP/HTTP server's answer means for the pushes that it is about."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse

from kproxy.delivery.batches import Verdict

_AGAIN: Final = frozenset({429, 502, 503, 504})
_APART: Final = frozenset({400, 413})
_LONGEST_WAIT: Final = 3600.0


def verdict(status: int) -> Verdict:
    """By the HTTP status, as OTLP has it. A redirect is refused: the configuration says where clients' metrics go."""
    if 200 <= status < 300:
        return Verdict.DELIVERED
    if status in _AGAIN:
        return Verdict.AGAIN
    return Verdict.APART if status in _APART else Verdict.REFUSED


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait, as the server asks (RFC 9110, 10.2.3); `now` in Unix seconds. None when it does not ask."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdecimal():
        return min(float(value), _LONGEST_WAIT)
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    seconds = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - now
    return max(0.0, min(seconds, _LONGEST_WAIT))


def complaint(body: bytes) -> str | None:
    """What the server did not take of what it took, in its words (partial success); None when it took all."""
    try:
        partial = ExportMetricsServiceResponse.FromString(body).partial_success
    except DecodeError:
        return None  # JSON, or nothing that we asked for: the status says enough
    if not partial.rejected_data_points:
        return None
    return f"{partial.rejected_data_points} data points rejected: {partial.error_message[:200]}"
