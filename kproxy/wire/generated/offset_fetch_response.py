"""OffsetFetchResponse, versions 0 to 10."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from uuid import UUID
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import ZERO_UUID, Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class OffsetFetchResponsePartition(WireStruct):
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1
    metadata: str | None = ""
    error_code: int = 0
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 6
        self = cls()
        self.partition_index = reader.int32()
        self.committed_offset = reader.int64()
        if version >= 5:
            self.committed_leader_epoch = reader.int32()
        self.metadata = reader.nullable_string(flexible)
        self.error_code = reader.int16()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 6
        writer.int32(self.partition_index)
        writer.int64(self.committed_offset)
        if version >= 5:
            writer.int32(self.committed_leader_epoch)
        writer.nullable_string(self.metadata, flexible)
        writer.int16(self.error_code)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("OffsetFetchResponsePartition.unknown_tags", version)


@dataclass(slots=True)
class OffsetFetchResponseTopic(WireStruct):
    name: str = ""
    partitions: list[OffsetFetchResponsePartition] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 6
        self = cls()
        self.name = reader.string(flexible)
        self.partitions = reader.structs(OffsetFetchResponsePartition, version, flexible)
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
            raise absent("OffsetFetchResponseTopic.unknown_tags", version)


@dataclass(slots=True)
class OffsetFetchResponsePartitions(WireStruct):
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1
    metadata: str | None = ""
    error_code: int = 0
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.partition_index = reader.int32()
        self.committed_offset = reader.int64()
        self.committed_leader_epoch = reader.int32()
        self.metadata = reader.nullable_string(True)
        self.error_code = reader.int16()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int32(self.partition_index)
        writer.int64(self.committed_offset)
        writer.int32(self.committed_leader_epoch)
        writer.nullable_string(self.metadata, True)
        writer.int16(self.error_code)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class OffsetFetchResponseTopics(WireStruct):
    name: str = ""
    topic_id: UUID = ZERO_UUID
    partitions: list[OffsetFetchResponsePartitions] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        if version <= 9:
            self.name = reader.string(True)
        if version >= 10:
            self.topic_id = reader.uuid()
        self.partitions = reader.structs(OffsetFetchResponsePartitions, version, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        if version <= 9:
            writer.string(self.name, True)
        if version >= 10:
            writer.uuid(self.topic_id)
        writer.structs(self.partitions, version, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class OffsetFetchResponseGroup(WireStruct):
    group_id: str = ""
    topics: list[OffsetFetchResponseTopics] = field(default_factory=list)
    error_code: int = 0
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.group_id = reader.string(True)
        self.topics = reader.structs(OffsetFetchResponseTopics, version, True)
        self.error_code = reader.int16()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.group_id, True)
        writer.structs(self.topics, version, True)
        writer.int16(self.error_code)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class OffsetFetchResponse(WireMessage):
    api_key: ClassVar[int] = 9
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 10

    throttle_time_ms: int = 0
    topics: list[OffsetFetchResponseTopic] = field(default_factory=list)
    error_code: int = 0
    groups: list[OffsetFetchResponseGroup] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 6
        self = cls()
        if version >= 3:
            self.throttle_time_ms = reader.int32()
        if version <= 7:
            self.topics = reader.structs(OffsetFetchResponseTopic, version, flexible)
        if 2 <= version <= 7:
            self.error_code = reader.int16()
        if version >= 8:
            self.groups = reader.structs(OffsetFetchResponseGroup, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 6
        if version >= 3:
            writer.int32(self.throttle_time_ms)
        if version <= 7:
            writer.structs(self.topics, version, flexible)
        elif self.topics != []:
            raise absent("OffsetFetchResponse.topics", version)
        if 2 <= version <= 7:
            writer.int16(self.error_code)
        if version >= 8:
            writer.structs(self.groups, version, flexible)
        elif self.groups != []:
            raise absent("OffsetFetchResponse.groups", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("OffsetFetchResponse.unknown_tags", version)
