"""OffsetDeleteRequest, versions 0 to 0."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class OffsetDeleteRequestPartition(WireStruct):
    partition_index: int = 0

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.partition_index = reader.int32()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int32(self.partition_index)


@dataclass(slots=True)
class OffsetDeleteRequestTopic(WireStruct):
    name: str = ""
    partitions: list[OffsetDeleteRequestPartition] = field(default_factory=list)

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.name = reader.string(False)
        self.partitions = reader.structs(OffsetDeleteRequestPartition, version, False)
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.name, False)
        writer.structs(self.partitions, version, False)


@dataclass(slots=True)
class OffsetDeleteRequest(WireMessage):
    api_key: ClassVar[int] = 47
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 0

    group_id: str = ""
    topics: list[OffsetDeleteRequestTopic] = field(default_factory=list)

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.group_id = reader.string(False)
        self.topics = reader.structs(OffsetDeleteRequestTopic, version, False)
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.group_id, False)
        writer.structs(self.topics, version, False)
