# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Answers GetTelemetrySubscriptions and PushTelemetry for a virtual cluster (KIP-714). Time is an argument.

The handlers of kproxy.telemetry.policies call `get` and `pushing`, once for each request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Final, cast
from uuid import UUID, uuid4

from kproxy.telemetry.compression import ACCEPTED, CODECS, decompress
from kproxy.telemetry.errors import PayloadError, TelemetryError
from kproxy.telemetry.instances import CAPACITY, Instance, Instances
from kproxy.telemetry.layout import LastPayload, PayloadTemplate
from kproxy.telemetry.payload import LARGE, Push, checked, checking
from kproxy.telemetry.quotas import REASONS, DecodeTime, Pusher, Quotas, admit_instance, admit_principal
from kproxy.telemetry.skim import Bounds
from kproxy.telemetry.subscription import RESERVED_IDS, ClientInfo
from kproxy.telemetry.subscriptions import Subscriptions
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from kproxy.wire.generated.get_telemetry_subscriptions_response import GetTelemetrySubscriptionsResponse
from kproxy.wire.generated.push_telemetry_request import PushTelemetryRequest
from kproxy.wire.generated.push_telemetry_response import PushTelemetryResponse
from kproxy.wire.primitives import ZERO_UUID

if TYPE_CHECKING:
    from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

MAX_BYTES: Final = 1 << 20
DELTAS: Final = True
GROWTH: Final = 8
"""How many times `max_bytes` a push may have when it is decompressed. Brokers bound the compressed bytes only, and
Java's metrics shrink to a fortieth: with all of them, a consumer of 3,000 partitions pushes 100 KB that become
4 MB. 8 MiB are decompressed in one step, of 5 ms (gzip: 10)."""
RATIO: Final = 256
"""How many times its own size a push may grow beyond `max_bytes`. Names in every metric that are as long as Kafka
allows shrink to a hundredth; what repeats itself far more is made to: a bomb."""

Pushing = Generator[None, None, tuple[PushTelemetryResponse, Push | None]]


class Tally:
    """Counts of what was answered: requests by error code, bytes as received and decompressed, seconds of decoding.

    `refused` counts requests over a quota or a bound, by its reason.
    """

    __slots__ = ("decode_seconds", "decompressed_bytes", "gets", "pushed_bytes", "pushes", "refused")

    def __init__(self) -> None:
        self.gets: Counter[int] = Counter()
        self.pushes: Counter[int] = Counter()
        self.refused: dict[str, int] = dict.fromkeys(REASONS, 0)
        self.pushed_bytes = 0
        self.decompressed_bytes = 0
        self.decode_seconds = 0.0


class Telemetry:
    """The subscriptions and instances of a virtual cluster, and the answers to its clients.

    `max_bytes` bounds a push as received; decompressed it may have as much, and `GROWTH` times as much where it has not
    grown more than `RATIO`-fold. `clock` counts seconds from any moment; it measures decoding. `new_id` makes ids for
    clients that have none. A request without a `pusher` is the first of its connection.
    """

    def __init__(
        self,
        subscriptions: Subscriptions,
        *,
        max_bytes: int = MAX_BYTES,
        capacity: int = CAPACITY,
        quotas: Quotas | None = None,
        new_id: Callable[[], UUID] = uuid4,
        clock: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.subscriptions = subscriptions
        self.quotas = Quotas() if quotas is None else quotas
        self.instances = Instances(capacity)
        self.decode_time = DecodeTime()
        self.tally = Tally()
        self.max_bytes = max_bytes
        self._new_id = new_id
        self._clock = clock

    def get(
        self, info: ClientInfo, request: GetTelemetrySubscriptionsRequest, now: float, pusher: Pusher | None = None
    ) -> GetTelemetrySubscriptionsResponse:
        """Return what the client is to push; `now` is in unix seconds.

        The id is the request's, not `info`'s, or a new one. Errors have it, too: Java's client throws on a zero id.
        """
        instance_id = self._new_id() if request.client_instance_id == ZERO_UUID else request.client_instance_id
        info = info.bounded()._replace(client_instance_id=instance_id)
        try:
            self._admit_client(Pusher() if pusher is None else pusher, instance_id)
            instance = self._instance(info)
            self._meet(instance, info)
            self.instances.see(instance, now, self.quotas.address_share)
            instance.admit_get(now)
        except TelemetryError as error:
            self.tally.gets[error.code] += 1
            self._count_refusal(error)
            return GetTelemetrySubscriptionsResponse(error_code=error.code, client_instance_id=instance_id)
        self.tally.gets[ErrorCode.NONE] += 1
        return self._subscribed(instance)

    def _subscribed(self, instance: Instance) -> GetTelemetrySubscriptionsResponse:
        return GetTelemetrySubscriptionsResponse(
            client_instance_id=instance.info.client_instance_id,
            subscription_id=instance.subscription_id,
            accepted_compression_types=list(ACCEPTED),
            push_interval_ms=instance.subscriptions.interval_ms,
            telemetry_max_bytes=self.max_bytes,
            delta_temporality=DELTAS,
            requested_metrics=list(instance.subscriptions.metrics),
        )

    def _admit_client(self, pusher: Pusher, instance_id: UUID) -> None:
        admit_principal(pusher, self.quotas)
        admit_instance(pusher, instance_id, self.quotas.connection_instances)

    def _count_refusal(self, error: TelemetryError) -> None:
        if error.reason:
            self.tally.refused[error.reason] += 1

    def push(
        self, info: ClientInfo, request: PushTelemetryRequest, now: float, pusher: Pusher | None = None
    ) -> tuple[PushTelemetryResponse, Push | None]:
        """Do as `pushing`, in one step."""
        steps = self.pushing(info, request, now, pusher)
        while True:
            try:
                next(steps)
            except StopIteration as over:
                return cast("tuple[PushTelemetryResponse, Push | None]", over.value)

    def pushing(
        self, info: ClientInfo, request: PushTelemetryRequest, now: float, pusher: Pusher | None = None
    ) -> Pushing:
        """Return the response and the push for receivers; None if the push was refused or is empty.

        If the payload is large, it yields before each part that it checks.
        """
        self.tally.pushed_bytes += len(request.metrics)
        info = info.bounded()
        if info.client_instance_id is not request.client_instance_id:
            info = info._replace(client_instance_id=request.client_instance_id)
        try:
            push = yield from self._accept(info, request, now, Pusher() if pusher is None else pusher)
        except TelemetryError as error:
            self.tally.pushes[error.code] += 1
            self._count_refusal(error)
            return PushTelemetryResponse(error_code=error.code), None
        self.tally.pushes[ErrorCode.NONE] += 1
        return PushTelemetryResponse(), push

    def _accept(
        self, info: ClientInfo, request: PushTelemetryRequest, now: float, pusher: Pusher
    ) -> Generator[None, None, Push | None]:
        """Check the push, in Kafka's order; raise TelemetryError for the first check that fails."""
        if info.client_instance_id in RESERVED_IDS:
            raise TelemetryError(ErrorCode.INVALID_REQUEST, f"{info.client_instance_id} is no client instance id")
        self._admit_client(pusher, info.client_instance_id)
        instance = self._instance(info)
        self.instances.see(instance, now, self.quotas.address_share)
        instance.refused(None)
        try:
            instance.admit_push(request.subscription_id, request.terminating, now)
            payload = self._decompressed(info, request, now, pusher)
            if len(payload) >= LARGE:
                yield from self._checked_in_turns(info, pusher, payload)
            push = self._opened(instance, info, request, now, pusher, payload)
        except TelemetryError as error:
            instance.refused(error)
            raise
        instance.pushes += 1
        instance.pushed_bytes += len(request.metrics)
        return push

    def _decompressed(self, info: ClientInfo, request: PushTelemetryRequest, now: float, pusher: Pusher) -> bytes:
        if request.compression_type not in CODECS:
            raise PayloadError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"compression type {request.compression_type}")
        if len(request.metrics) > self.max_bytes:
            raise PayloadError(ErrorCode.TELEMETRY_TOO_LARGE, f"{len(request.metrics)} bytes, {self.max_bytes} at most")
        if not request.metrics:  # librdkafka 2.8 sends an empty push at times
            return b""
        self.decode_time.admit(pusher, info.source_address, self.quotas, now)
        began = self._clock()
        try:
            return decompress(request.compression_type, request.metrics, self._most_decompressed(len(request.metrics)))
        finally:
            self._spend(pusher, info, self._clock() - began)

    def _most_decompressed(self, received: int) -> int:
        return max(self.max_bytes, min(GROWTH * self.max_bytes, RATIO * received))

    def _checked_in_turns(self, info: ClientInfo, pusher: Pusher, payload: bytes) -> Generator[None, None, None]:
        """Check a large payload part by part, each when others had their turn; raise PayloadError 118 or 87."""
        steps = checking(payload, self.quotas.bounds)
        left = len(payload)
        while left > 0:
            yield
            began = self._clock()
            try:
                left -= next(steps)
            finally:
                self._spend(pusher, info, self._clock() - began)

    def _opened(
        self,
        instance: Instance,
        info: ClientInfo,
        request: PushTelemetryRequest,
        now: float,
        pusher: Pusher,
        payload: bytes,
    ) -> Push | None:
        if not payload:
            return None
        began = self._clock()
        try:
            metrics, template = _checked(payload, instance.last_payload, self.quotas.bounds)
        finally:
            self._spend(pusher, info, self._clock() - began)
        self.tally.decompressed_bytes += len(payload)
        if info == instance.info:
            info = instance.info  # one object for all pushes that are kept
        return Push(
            info,
            round(now, 3),  # else each receiver rounds it in its own way, and who reads two has the push twice
            payload,
            terminating=request.terminating,
            deltas=DELTAS,
            metrics=metrics,
            template=template,
            pusher=pusher,
            losses=instance.losses,
        )

    def _spend(self, pusher: Pusher, info: ClientInfo, seconds: float) -> None:
        self.tally.decode_seconds += seconds
        self.decode_time.charge(pusher, info.source_address, seconds)

    def expired(self, now: float) -> list[Instance]:
        """Forget the instances that expired since the last call, and return them for receivers that remember them."""
        return self.instances.expired(now)

    def _instance(self, info: ClientInfo) -> Instance:
        """Return the instance with the id of `info`, subscribed to what it is to push now."""
        version = self.subscriptions.version
        instance = self.instances.get(info.client_instance_id)
        if instance is None:
            return Instance(info, self.subscriptions.of(info), version)
        if instance.version != version:
            instance.resubscribe(self.subscriptions.of(instance.info), version)
        return instance

    def _meet(self, instance: Instance, info: ClientInfo) -> None:
        """Subscribe by what the client was at its last get, not by the connection on which a push happens to come."""
        if instance.info != info:
            instance.info = info
            instance.subscribe(self.subscriptions.of(info), self.subscriptions.version)


def _checked(payload: bytes, last: LastPayload, bounds: Bounds) -> tuple[MetricsData | None, PayloadTemplate | None]:
    """Return metrics and template; no metrics if the payload has the last one's template, and so the same counts.

    A large one is checked already. Raise PayloadError 87 or 118.
    """
    if len(payload) >= LARGE:
        return None, last.learn(payload)
    template = last.match(payload)
    if template is not None:
        return None, template
    metrics = checked(payload, bounds)
    return metrics, last.learn(payload)
