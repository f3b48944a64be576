"""PushTelemetryRequest, versions 0 to 0."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self
from uuid import UUID
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import ZERO_UUID, Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class PushTelemetryRequest(WireMessage):
    api_key: ClassVar[int] = 72
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 0

    client_instance_id: UUID = ZERO_UUID
    subscription_id: int = 0
    terminating: bool = False
    compression_type: int = 0
    metrics: bytes = b""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.client_instance_id = reader.uuid()
        self.subscription_id = reader.int32()
        self.terminating = reader.boolean()
        self.compression_type = reader.int8()
        self.metrics = reader.blob(True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.uuid(self.client_instance_id)
        writer.int32(self.subscription_id)
        writer.boolean(self.terminating)
        writer.int8(self.compression_type)
        writer.blob(self.metrics, True)
        writer.tagged_fields(self.unknown_tags)
