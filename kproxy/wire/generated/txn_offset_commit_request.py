"""TxnOffsetCommitRequest, versions 0 to 6."""
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
class TxnOffsetCommitRequestPartition(WireStruct):
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1
    committed_metadata: str | None = ""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        self.partition_index = reader.int32()
        self.committed_offset = reader.int64()
        if version >= 2:
            self.committed_leader_epoch = reader.int32()
        self.committed_metadata = reader.nullable_string(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        writer.int32(self.partition_index)
        writer.int64(self.committed_offset)
        if version >= 2:
            writer.int32(self.committed_leader_epoch)
        writer.nullable_string(self.committed_metadata, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("TxnOffsetCommitRequestPartition.unknown_tags", version)


@dataclass(slots=True)
class TxnOffsetCommitRequestTopic(WireStruct):
    name: str = ""
    topic_id: UUID = ZERO_UUID
    partitions: list[TxnOffsetCommitRequestPartition] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        if version <= 5:
            self.name = reader.string(flexible)
        if version >= 6:
            self.topic_id = reader.uuid()
        self.partitions = reader.structs(TxnOffsetCommitRequestPartition, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        if version <= 5:
            writer.string(self.name, flexible)
        if version >= 6:
            writer.uuid(self.topic_id)
        writer.structs(self.partitions, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("TxnOffsetCommitRequestTopic.unknown_tags", version)


@dataclass(slots=True)
class TxnOffsetCommitRequest(WireMessage):
    api_key: ClassVar[int] = 28
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 6

    transactional_id: str = ""
    group_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    generation_id_or_member_epoch: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
    topics: list[TxnOffsetCommitRequestTopic] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        self.transactional_id = reader.string(flexible)
        self.group_id = reader.string(flexible)
        self.producer_id = reader.int64()
        self.producer_epoch = reader.int16()
        if version >= 3:
            self.generation_id_or_member_epoch = reader.int32()
        if version >= 3:
            self.member_id = reader.string(flexible)
        if version >= 3:
            self.group_instance_id = reader.nullable_string(flexible)
        self.topics = reader.structs(TxnOffsetCommitRequestTopic, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        writer.string(self.transactional_id, flexible)
        writer.string(self.group_id, flexible)
        writer.int64(self.producer_id)
        writer.int16(self.producer_epoch)
        if version >= 3:
            writer.int32(self.generation_id_or_member_epoch)
        elif self.generation_id_or_member_epoch != -1:
            raise absent("TxnOffsetCommitRequest.generation_id_or_member_epoch", version)
        if version >= 3:
            writer.string(self.member_id, flexible)
        elif self.member_id != "":
            raise absent("TxnOffsetCommitRequest.member_id", version)
        if version >= 3:
            writer.nullable_string(self.group_instance_id, flexible)
        elif self.group_instance_id is not None:
            raise absent("TxnOffsetCommitRequest.group_instance_id", version)
        writer.structs(self.topics, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("TxnOffsetCommitRequest.unknown_tags", version)
