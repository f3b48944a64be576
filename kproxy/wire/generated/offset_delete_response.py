"""OffsetDeleteResponse, versions 0 to 0."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class OffsetDeleteResponsePartition(WireStruct):
    partition_index: int = 0
    error_code: int = 0

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.partition_index = reader.int32()
        self.error_code = reader.int16()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int32(self.partition_index)
        writer.int16(self.error_code)


@dataclass(slots=True)
class OffsetDeleteResponseTopic(WireStruct):
    name: str = ""
    partitions: list[OffsetDeleteResponsePartition] = field(default_factory=list)

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.name = reader.string(False)
        self.partitions = reader.structs(OffsetDeleteResponsePartition, version, False)
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.name, False)
        writer.structs(self.partitions, version, False)


@dataclass(slots=True)
class OffsetDeleteResponse(WireMessage):
    api_key: ClassVar[int] = 47
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 0

    error_code: int = 0
    throttle_time_ms: int = 0
    topics: list[OffsetDeleteResponseTopic] = field(default_factory=list)

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.error_code = reader.int16()
        self.throttle_time_ms = reader.int32()
        self.topics = reader.structs(OffsetDeleteResponseTopic, version, False)
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int16(self.error_code)
        writer.int32(self.throttle_time_ms)
        writer.structs(self.topics, version, False)
