"""OffsetFetchRequest, versions 0 to 10."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from uuid import UUID
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import ZERO_UUID, Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer, not_null


@dataclass(slots=True)
class OffsetFetchRequestTopic(WireStruct):
    name: str = ""
    partition_indexes: list[int] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 6
        self = cls()
        self.name = reader.string(flexible)
        self.partition_indexes = reader.array(reader.int32, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 6
        writer.string(self.name, flexible)
        writer.array(self.partition_indexes, writer.int32, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("OffsetFetchRequestTopic.unknown_tags", version)


@dataclass(slots=True)
class OffsetFetchRequestTopics(WireStruct):
    name: str = ""
    topic_id: UUID = ZERO_UUID
    partition_indexes: list[int] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        if version <= 9:
            self.name = reader.string(True)
        if version >= 10:
            self.topic_id = reader.uuid()
        self.partition_indexes = reader.array(reader.int32, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        if version <= 9:
            writer.string(self.name, True)
        if version >= 10:
            writer.uuid(self.topic_id)
        writer.array(self.partition_indexes, writer.int32, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class OffsetFetchRequestGroup(WireStruct):
    group_id: str = ""
    member_id: str | None = None
    member_epoch: int = -1
    topics: list[OffsetFetchRequestTopics] | None = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.group_id = reader.string(True)
        if version >= 9:
            self.member_id = reader.nullable_string(True)
        if version >= 9:
            self.member_epoch = reader.int32()
        self.topics = reader.nullable_structs(OffsetFetchRequestTopics, version, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.group_id, True)
        if version >= 9:
            writer.nullable_string(self.member_id, True)
        if version >= 9:
            writer.int32(self.member_epoch)
        writer.nullable_structs(self.topics, version, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class OffsetFetchRequest(WireMessage):
    api_key: ClassVar[int] = 9
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 10

    group_id: str = ""
    topics: list[OffsetFetchRequestTopic] | None = field(default_factory=list)
    groups: list[OffsetFetchRequestGroup] = field(default_factory=list)
    require_stable: bool = False
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 6
        self = cls()
        if version <= 7:
            self.group_id = reader.string(flexible)
        if version <= 7:
            self.topics = reader.nullable_structs(OffsetFetchRequestTopic, version, flexible) if version >= 2 else reader.structs(OffsetFetchRequestTopic, version, flexible)
        if version >= 8:
            self.groups = reader.structs(OffsetFetchRequestGroup, version, flexible)
        if version >= 7:
            self.require_stable = reader.boolean()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 6
        if version <= 7:
            writer.string(self.group_id, flexible)
        elif self.group_id != "":
            raise absent("OffsetFetchRequest.group_id", version)
        if version <= 7:
            writer.nullable_structs(self.topics, version, flexible) if version >= 2 else writer.structs(not_null(self.topics, "OffsetFetchRequest.topics", version), version, flexible)
        elif self.topics != []:
            raise absent("OffsetFetchRequest.topics", version)
        if version >= 8:
            writer.structs(self.groups, version, flexible)
        elif self.groups != []:
            raise absent("OffsetFetchRequest.groups", version)
        if version >= 7:
            writer.boolean(self.require_stable)
        elif self.require_stable != False:
            raise absent("OffsetFetchRequest.require_stable", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("OffsetFetchRequest.unknown_tags", version)
