"""EndTxnResponse, versions 0 to 5."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class EndTxnResponse(WireMessage):
    api_key: ClassVar[int] = 26
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 5

    throttle_time_ms: int = 0
    error_code: int = 0
    producer_id: int = -1
    producer_epoch: int = -1
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        self.throttle_time_ms = reader.int32()
        self.error_code = reader.int16()
        if version >= 5:
            self.producer_id = reader.int64()
        if version >= 5:
            self.producer_epoch = reader.int16()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        writer.int32(self.throttle_time_ms)
        writer.int16(self.error_code)
        if version >= 5:
            writer.int64(self.producer_id)
        if version >= 5:
            writer.int16(self.producer_epoch)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("EndTxnResponse.unknown_tags", version)
