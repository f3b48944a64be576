# This module is pure (no I/O, no clock).
"""A client's push: OTLP metrics as bytes, and decoded for receivers that read them.

`Telemetry` makes a `Push` of each accepted request that has metrics; each receiver is then offered the `Push`. What a
receiver leaves out of it, it notes in the push's `losses`, which the client's instance keeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kproxy.telemetry.errors import PayloadError
from kproxy.telemetry.layout import PayloadTemplate
from kproxy.telemetry.quotas import Pusher
from kproxy.telemetry.skim import Bounds, Skim, skim, slices
from kproxy.telemetry.subscription import ClientInfo
from kproxy.wire.generated.error_codes import ErrorCode

if TYPE_CHECKING:
    from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData


LARGE: Final = 64 << 10
"""The bytes from which on a payload is worked on in parts, between which others have their turn. Java's clients push
25 KB when they are asked for everything; a consumer of 1,500 partitions pushes megabytes."""


def checked(payload: bytes, bounds: Bounds) -> MetricsData:
    """Return the metrics of a payload within the bounds; raise PayloadError 118 or 87.

    What is in it is counted before protobuf makes an object of each message.
    """
    skim(payload, bounds)
    return decode(payload)


def checking(payload: bytes, bounds: Bounds) -> Iterator[int]:
    """Check a payload as `checked` does, part by part. It yields behind each part, with the bytes that it has.

    What is decoded is dropped: of all parts together it would take ten times the memory of the payload.
    """
    counts = Skim(payload, bounds)
    for start, end in slices(payload):
        counts.take(start, end)
        decode(payload[start:end])
        yield end - start


def parts(payload: bytes) -> Iterator[bytes]:
    """Yield the parts of a large payload, and a small one whole. Each is MetricsData; joined they are the payload."""
    if len(payload) < LARGE:
        yield payload
        return
    for start, end in slices(payload):
        yield payload[start:end]


def decode(payload: bytes) -> MetricsData:
    """Return the metrics; raise PayloadError 87 for bytes that are not MetricsData.

    The result takes a multiple of the memory of `payload`. So nobody keeps it for long; see `Push.release`.
    """
    # Imported here, at the first push and not at start: it takes 15 ms and 2 MB.
    from google.protobuf.message import DecodeError  # noqa: PLC0415
    from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData  # noqa: PLC0415

    try:
        metrics: MetricsData = MetricsData.FromString(payload)
    except DecodeError as error:
        raise PayloadError(ErrorCode.INVALID_RECORD, f"not OTLP MetricsData: {error}") from error
    return metrics


class Losses:
    """How many data points of a client were left out by receivers, and why the last ones were."""

    __slots__ = ("points", "reason")

    def __init__(self) -> None:
        self.points = 0
        self.reason = ""

    def note(self, points: int, reason: str) -> None:
        """Add up points that a receiver left out for one reason."""
        self.points += points
        self.reason = reason


class Push:
    """One accepted push.

    `info` is the client; `received_at` is in unix seconds. `payload` is OTLP MetricsData, decompressed; the same bytes
    are an ExportMetricsServiceRequest. `terminating`: it is the client's last push. `deltas`: sums count from the
    previous push, not from the client's start. `template` is the payload's, if known: pushes of a client with equal
    templates allow short cuts. `pusher` is the connection that it came by; `losses` are the client's.
    """

    __slots__ = (
        "_kept",
        "_metrics",
        "deltas",
        "info",
        "losses",
        "payload",
        "pusher",
        "received_at",
        "template",
        "terminating",
    )

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
        pusher: Pusher | None = None,
        losses: Losses | None = None,
    ) -> None:
        self.info = info
        self.pusher = pusher
        self.losses = Losses() if losses is None else losses
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

    def parts(self) -> Iterator[MetricsData]:
        """Yield the metrics: those of a large push part by part, so that none takes long, or much memory at a time."""
        if len(self.payload) < LARGE:
            yield self.metrics
            return
        for each in parts(self.payload):
            yield decode(each)

    def release(self) -> None:
        """Drop the decoded metrics. Call it once every receiver was offered the push: queues then hold only bytes."""
        self._metrics = None
        self._kept = False
