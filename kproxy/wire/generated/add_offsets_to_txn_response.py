"""AddOffsetsToTxnResponse, versions 0 to 4."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class AddOffsetsToTxnResponse(WireMessage):
    api_key: ClassVar[int] = 25
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 4

    throttle_time_ms: int = 0
    error_code: int = 0
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        self.throttle_time_ms = reader.int32()
        self.error_code = reader.int16()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        writer.int32(self.throttle_time_ms)
        writer.int16(self.error_code)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("AddOffsetsToTxnResponse.unknown_tags", version)
