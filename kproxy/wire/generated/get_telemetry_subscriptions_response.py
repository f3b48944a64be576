"""GetTelemetrySubscriptionsResponse, versions 0 to 0."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from uuid import UUID
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import ZERO_UUID, Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class GetTelemetrySubscriptionsResponse(WireMessage):
    api_key: ClassVar[int] = 71
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 0

    throttle_time_ms: int = 0
    error_code: int = 0
    client_instance_id: UUID = ZERO_UUID
    subscription_id: int = 0
    accepted_compression_types: list[int] = field(default_factory=list)
    push_interval_ms: int = 0
    telemetry_max_bytes: int = 0
    delta_temporality: bool = False
    requested_metrics: list[str] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.throttle_time_ms = reader.int32()
        self.error_code = reader.int16()
        self.client_instance_id = reader.uuid()
        self.subscription_id = reader.int32()
        self.accepted_compression_types = reader.array(reader.int8, True)
        self.push_interval_ms = reader.int32()
        self.telemetry_max_bytes = reader.int32()
        self.delta_temporality = reader.boolean()
        self.requested_metrics = reader.array(lambda: reader.string(True), True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int32(self.throttle_time_ms)
        writer.int16(self.error_code)
        writer.uuid(self.client_instance_id)
        writer.int32(self.subscription_id)
        writer.array(self.accepted_compression_types, writer.int8, True)
        writer.int32(self.push_interval_ms)
        writer.int32(self.telemetry_max_bytes)
        writer.boolean(self.delta_temporality)
        writer.array(self.requested_metrics, lambda item: writer.string(item, True), True)
        writer.tagged_fields(self.unknown_tags)
