# This module is pure (no I/O, no clock).
"""What the answer of an OTLP/HTTP server means for the pushes in a request of the `otlp` receiver.

The receiver calls it for each answer.
"""

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
"""The request is split in two: one push may have spoiled it, or it was too large."""
_LONGEST_WAIT: Final = 3600.0
_SHOWN: Final = 200
"""Characters of a server's message."""


def verdict(status: int) -> Verdict:
    """Return the verdict by the HTTP status, as in OTLP.

    Any other status drops the pushes, redirects included: only the configured URL counts.
    """
    if 200 <= status < 300:
        return Verdict.DELIVERED
    if status in _AGAIN:
        return Verdict.AGAIN
    return Verdict.APART if status in _APART else Verdict.REFUSED


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that the server asks to wait (RFC 9110, 10.2.3), if it does; `now` is in unix seconds."""
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
    """Return what the server rejects of an accepted request, or warns of (partial success); None if it took all."""
    try:
        partial = ExportMetricsServiceResponse.FromString(body).partial_success
    except DecodeError:
        return None  # JSON, or something unexpected: the status says enough
    if not partial.rejected_data_points:
        return partial.error_message[:_SHOWN] or None
    return f"{partial.rejected_data_points} data points rejected: {partial.error_message[:_SHOWN]}"
