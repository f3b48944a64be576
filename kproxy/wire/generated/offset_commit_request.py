"""OffsetCommitRequest, versions 0 to 10."""
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
class OffsetCommitRequestPartition(WireStruct):
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1
    commit_timestamp: int = -1
    committed_metadata: str | None = ""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 8
        self = cls()
        self.partition_index = reader.int32()
        self.committed_offset = reader.int64()
        if version >= 6:
            self.committed_leader_epoch = reader.int32()
        if version == 1:
            self.commit_timestamp = reader.int64()
        self.committed_metadata = reader.nullable_string(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 8
        writer.int32(self.partition_index)
        writer.int64(self.committed_offset)
        if version >= 6:
            writer.int32(self.committed_leader_epoch)
        if version == 1:
            writer.int64(self.commit_timestamp)
        elif self.commit_timestamp != -1:
            raise absent("OffsetCommitRequestPartition.commit_timestamp", version)
        writer.nullable_string(self.committed_metadata, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("OffsetCommitRequestPartition.unknown_tags", version)


@dataclass(slots=True)
class OffsetCommitRequestTopic(WireStruct):
    name: str = ""
    topic_id: UUID = ZERO_UUID
    partitions: list[OffsetCommitRequestPartition] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 8
        self = cls()
        if version <= 9:
            self.name = reader.string(flexible)
        if version >= 10:
            self.topic_id = reader.uuid()
        self.partitions = reader.structs(OffsetCommitRequestPartition, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 8
        if version <= 9:
            writer.string(self.name, flexible)
        if version >= 10:
            writer.uuid(self.topic_id)
        writer.structs(self.partitions, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("OffsetCommitRequestTopic.unknown_tags", version)


@dataclass(slots=True)
class OffsetCommitRequest(WireMessage):
    api_key: ClassVar[int] = 8
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 10

    group_id: str = ""
    generation_id_or_member_epoch: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
    retention_time_ms: int = -1
    topics: list[OffsetCommitRequestTopic] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 8
        self = cls()
        self.group_id = reader.string(flexible)
        if version >= 1:
            self.generation_id_or_member_epoch = reader.int32()
        if version >= 1:
            self.member_id = reader.string(flexible)
        if version >= 7:
            self.group_instance_id = reader.nullable_string(flexible)
        if 2 <= version <= 4:
            self.retention_time_ms = reader.int64()
        self.topics = reader.structs(OffsetCommitRequestTopic, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 8
        writer.string(self.group_id, flexible)
        if version >= 1:
            writer.int32(self.generation_id_or_member_epoch)
        if version >= 1:
            writer.string(self.member_id, flexible)
        if version >= 7:
            writer.nullable_string(self.group_instance_id, flexible)
        elif self.group_instance_id is not None:
            raise absent("OffsetCommitRequest.group_instance_id", version)
        if 2 <= version <= 4:
            writer.int64(self.retention_time_ms)
        writer.structs(self.topics, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("OffsetCommitRequest.unknown_tags", version)
