"""ListOffsetsRequest, versions 0 to 11."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class ListOffsetsPartition(WireStruct):
    partition_index: int = 0
    current_leader_epoch: int = -1
    timestamp: int = 0
    max_num_offsets: int = 1
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 6
        self = cls()
        self.partition_index = reader.int32()
        if version >= 4:
            self.current_leader_epoch = reader.int32()
        self.timestamp = reader.int64()
        if version <= 0:
            self.max_num_offsets = reader.int32()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 6
        writer.int32(self.partition_index)
        if version >= 4:
            writer.int32(self.current_leader_epoch)
        writer.int64(self.timestamp)
        if version <= 0:
            writer.int32(self.max_num_offsets)
        elif self.max_num_offsets != 1:
            raise absent("ListOffsetsPartition.max_num_offsets", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("ListOffsetsPartition.unknown_tags", version)


@dataclass(slots=True)
class ListOffsetsTopic(WireStruct):
    name: str = ""
    partitions: list[ListOffsetsPartition] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 6
        self = cls()
        self.name = reader.string(flexible)
        self.partitions = reader.structs(ListOffsetsPartition, version, flexible)
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
            raise absent("ListOffsetsTopic.unknown_tags", version)


@dataclass(slots=True)
class ListOffsetsRequest(WireMessage):
    api_key: ClassVar[int] = 2
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 11

    replica_id: int = 0
    isolation_level: int = 0
    topics: list[ListOffsetsTopic] = field(default_factory=list)
    timeout_ms: int = 0
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 6
        self = cls()
        self.replica_id = reader.int32()
        if version >= 2:
            self.isolation_level = reader.int8()
        self.topics = reader.structs(ListOffsetsTopic, version, flexible)
        if version >= 10:
            self.timeout_ms = reader.int32()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 6
        writer.int32(self.replica_id)
        if version >= 2:
            writer.int8(self.isolation_level)
        elif self.isolation_level != 0:
            raise absent("ListOffsetsRequest.isolation_level", version)
        writer.structs(self.topics, version, flexible)
        if version >= 10:
            writer.int32(self.timeout_ms)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("ListOffsetsRequest.unknown_tags", version)
