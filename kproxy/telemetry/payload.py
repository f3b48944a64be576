# This module is pure.
"""What a client pushes: OTLP metrics as bytes, and decoded for those who read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kproxy.telemetry.errors import PayloadError
from kproxy.telemetry.layout import Words
from kproxy.telemetry.subscription import ClientInfo
from kproxy.wire.generated.error_codes import ErrorCode

if TYPE_CHECKING:
    from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData


def decode(payload: bytes) -> MetricsData:
    """The metrics; PayloadError 87 for bytes that are not MetricsData.

    Takes up to 55 times the memory of `payload` when it is made to: an empty message is two bytes there, and an object
    here. So nobody keeps the result of a stranger's bytes for long; see `Push.release`.
    """
    # Here, since nobody has to wait for it at the start: 15 ms and 2 MB, which the first push takes instead.
    from google.protobuf.message import DecodeError  # noqa: PLC0415
    from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData  # noqa: PLC0415

    try:
        metrics: MetricsData = MetricsData.FromString(payload)
    except DecodeError as error:
        raise PayloadError(ErrorCode.INVALID_RECORD, f"not OTLP MetricsData: {error}") from error
    return metrics


class Push:
    """One accepted push.

    `info` tells who sent it, `received_at` when, in unix seconds. `payload` is OTLP MetricsData, decompressed: its
    bytes are an ExportMetricsServiceRequest, too. `terminating`: it is the client's last. `deltas`: sums
    count from the push before it, not from the client's start. `words`, where they are known, are what the payload
    says but for its numbers: equal ones of a client's pushes allow short cuts.
    """

    __slots__ = ("_kept", "_metrics", "deltas", "info", "payload", "received_at", "terminating", "words")

    def __init__(
        self,
        info: ClientInfo,
        received_at: float,
        payload: bytes,
        *,
        terminating: bool = False,
        deltas: bool = True,
        metrics: MetricsData | None = None,
        words: Words | None = None,
    ) -> None:
        self.info = info
        self.received_at = received_at
        self.payload = payload
        self.terminating = terminating
        self.deltas = deltas
        self.words = words
        self._metrics = metrics
        self._kept = True

    @property
    def metrics(self) -> MetricsData:
        """The payload decoded, once for all who ask before `release`; then for each who asks."""
        if self._metrics is not None:
            return self._metrics
        metrics = decode(self.payload)
        if self._kept:
            self._metrics = metrics
        return metrics

    def release(self) -> None:
        """Every receiver has been offered the push: from now on queues hold its bytes only, which they can count."""
        self._metrics = None
        self._kept = False
