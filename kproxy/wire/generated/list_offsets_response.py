"""ListOffsetsResponse, versions 0 to 11."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class ListOffsetsPartitionResponse(WireStruct):
    partition_index: int = 0
    error_code: int = 0
    old_style_offsets: list[int] = field(default_factory=list)
    timestamp: int = -1
    offset: int = -1
    leader_epoch: int = -1
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 6
        self = cls()
        self.partition_index = reader.int32()
        self.error_code = reader.int16()
        if version <= 0:
            self.old_style_offsets = reader.array(reader.int64, flexible)
        if version >= 1:
            self.timestamp = reader.int64()
        if version >= 1:
            self.offset = reader.int64()
        if version >= 4:
            self.leader_epoch = reader.int32()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 6
        writer.int32(self.partition_index)
        writer.int16(self.error_code)
        if version <= 0:
            writer.array(self.old_style_offsets, writer.int64, flexible)
        elif self.old_style_offsets != []:
            raise absent("ListOffsetsPartitionResponse.old_style_offsets", version)
        if version >= 1:
            writer.int64(self.timestamp)
        elif self.timestamp != -1:
            raise absent("ListOffsetsPartitionResponse.timestamp", version)
        if version >= 1:
            writer.int64(self.offset)
        elif self.offset != -1:
            raise absent("ListOffsetsPartitionResponse.offset", version)
        if version >= 4:
            writer.int32(self.leader_epoch)
        elif self.leader_epoch != -1:
            raise absent("ListOffsetsPartitionResponse.leader_epoch", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("ListOffsetsPartitionResponse.unknown_tags", version)


@dataclass(slots=True)
class ListOffsetsTopicResponse(WireStruct):
    name: str = ""
    partitions: list[ListOffsetsPartitionResponse] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 6
        self = cls()
        self.name = reader.string(flexible)
        self.partitions = reader.structs(ListOffsetsPartitionResponse, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 6
        writer.string(self.name, flexible)
        writer.structs(self.partitions, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("ListOffsetsTopicResponse.unknown_tags", version)


@dataclass(slots=True)
class ListOffsetsResponse(WireMessage):
    api_key: ClassVar[int] = 2
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 11

    throttle_time_ms: int = 0
    topics: list[ListOffsetsTopicResponse] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 6
        self = cls()
        if version >= 2:
            self.throttle_time_ms = reader.int32()
        self.topics = reader.structs(ListOffsetsTopicResponse, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 6
        if version >= 2:
            writer.int32(self.throttle_time_ms)
        writer.structs(self.topics, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("ListOffsetsResponse.unknown_tags", version)
