"""InitProducerIdResponse, versions 0 to 6."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class InitProducerIdResponse(WireMessage):
    api_key: ClassVar[int] = 22
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 6

    throttle_time_ms: int = 0
    error_code: int = 0
    producer_id: int = -1
    producer_epoch: int = 0
    ongoing_txn_producer_id: int = -1
    ongoing_txn_producer_epoch: int = -1
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 2
        self = cls()
        self.throttle_time_ms = reader.int32()
        self.error_code = reader.int16()
        self.producer_id = reader.int64()
        self.producer_epoch = reader.int16()
        if version >= 6:
            self.ongoing_txn_producer_id = reader.int64()
        if version >= 6:
            self.ongoing_txn_producer_epoch = reader.int16()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 2
        writer.int32(self.throttle_time_ms)
        writer.int16(self.error_code)
        writer.int64(self.producer_id)
        writer.int16(self.producer_epoch)
        if version >= 6:
            writer.int64(self.ongoing_txn_producer_id)
        elif self.ongoing_txn_producer_id != -1:
            raise absent("InitProducerIdResponse.ongoing_txn_producer_id", version)
        if version >= 6:
            writer.int16(self.ongoing_txn_producer_epoch)
        elif self.ongoing_txn_producer_epoch != -1:
            raise absent("InitProducerIdResponse.ongoing_txn_producer_epoch", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("InitProducerIdResponse.unknown_tags", version)
