# This module is pure (no I/O, no clock).
"""A client's push: OTLP metrics as bytes, and decoded for receivers that read them.

`Telemetry` makes a `Push` of each accepted request that has metrics; each receiver is then offered the `Push`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kproxy.telemetry.errors import PayloadError
from kproxy.telemetry.layout import PayloadTemplate
from kproxy.telemetry.subscription import ClientInfo
from kproxy.wire.generated.error_codes import ErrorCode

if TYPE_CHECKING:
    from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData


def decode(payload: bytes) -> MetricsData:
    """Return the metrics; raise PayloadError 87 for bytes that are not MetricsData.

    Malicious bytes take up to 55 times the memory of `payload`: an empty message is two bytes there, and an object
    here. So nobody keeps the result for long; see `Push.release`.
    """
    # Imported here, at the first push and not at start: it takes 15 ms and 2 MB.
    from google.protobuf.message import DecodeError  # noqa: PLC0415
    from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData  # noqa: PLC0415

    try:
        metrics: MetricsData = MetricsData.FromString(payload)
    except DecodeError as error:
        raise PayloadError(ErrorCode.INVALID_RECORD, f"not OTLP MetricsData: {error}") from error
    return metrics


class Push:
    """One accepted push.

    `info` is the client; `received_at` is in unix seconds. `payload` is OTLP MetricsData, decompressed; the same bytes
    are an ExportMetricsServiceRequest. `terminating`: it is the client's last push. `deltas`: sums count from the
    previous push, not from the client's start. `template` is the payload's, if known: pushes of a client with equal
    templates allow short cuts.
    """

    __slots__ = ("_kept", "_metrics", "deltas", "info", "payload", "received_at", "template", "terminating")

    def __init__(
        self,
        info: ClientInfo,
        received_at: float,
        payload: bytes,
        *,
        terminating: bool = False,
        deltas: bool = True,
        metrics: MetricsData | None = None,
        template: PayloadTemplate | None = None,
    ) -> None:
        self.info = info
        self.received_at = received_at
        self.payload = payload
        self.terminating = terminating
        self.deltas = deltas
        self.template = template
        self._metrics = metrics
        self._kept = True

    @property
    def metrics(self) -> MetricsData:
        """Return the decoded payload. Before `release` it is decoded once, afterwards at each access."""
        if self._metrics is not None:
            return self._metrics
        metrics = decode(self.payload)
        if self._kept:
            self._metrics = metrics
        return metrics

    def release(self) -> None:
        """Drop the decoded metrics. Call it once every receiver was offered the push: queues then hold only bytes."""
        self._metrics = None
        self._kept = False
