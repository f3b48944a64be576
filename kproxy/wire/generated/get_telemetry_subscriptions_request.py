"""GetTelemetrySubscriptionsRequest, versions 0 to 0."""
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
class GetTelemetrySubscriptionsRequest(WireMessage):
    api_key: ClassVar[int] = 71
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 0

    client_instance_id: UUID = ZERO_UUID
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.client_instance_id = reader.uuid()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.uuid(self.client_instance_id)
        writer.tagged_fields(self.unknown_tags)
