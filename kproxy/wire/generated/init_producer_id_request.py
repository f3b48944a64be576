"""InitProducerIdRequest, versions 0 to 5."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class InitProducerIdRequest(WireMessage):
    api_key: ClassVar[int] = 22
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 5

    transactional_id: str | None = ""
    transaction_timeout_ms: int = 0
    producer_id: int = -1
    producer_epoch: int = -1
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 2
        self = cls()
        self.transactional_id = reader.nullable_string(flexible)
        self.transaction_timeout_ms = reader.int32()
        if version >= 3:
            self.producer_id = reader.int64()
        if version >= 3:
            self.producer_epoch = reader.int16()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 2
        writer.nullable_string(self.transactional_id, flexible)
        writer.int32(self.transaction_timeout_ms)
        if version >= 3:
            writer.int64(self.producer_id)
        elif self.producer_id != -1:
            raise absent("InitProducerIdRequest.producer_id", version)
        if version >= 3:
            writer.int16(self.producer_epoch)
        elif self.producer_epoch != -1:
            raise absent("InitProducerIdRequest.producer_epoch", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("InitProducerIdRequest.unknown_tags", version)
