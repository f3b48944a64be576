"""FetchRequest, versions 0 to 18."""
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
class ReplicaState(WireStruct):
    replica_id: int = -1
    replica_epoch: int = -1
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.replica_id = reader.int32()
        self.replica_epoch = reader.int64()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int32(self.replica_id)
        writer.int64(self.replica_epoch)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class FetchPartition(WireStruct):
    partition: int = 0
    current_leader_epoch: int = -1
    fetch_offset: int = 0
    last_fetched_epoch: int = -1
    log_start_offset: int = -1
    partition_max_bytes: int = 0
    replica_directory_id: UUID = ZERO_UUID
    high_watermark: int = 9223372036854775807
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 12
        self = cls()
        self.partition = reader.int32()
        if version >= 9:
            self.current_leader_epoch = reader.int32()
        self.fetch_offset = reader.int64()
        if version >= 12:
            self.last_fetched_epoch = reader.int32()
        if version >= 5:
            self.log_start_offset = reader.int64()
        self.partition_max_bytes = reader.int32()
        if flexible:
            unknown = []
            for tag, data in reader.tagged_fields():
                inner = Reader(data)
                if tag == 0 and version >= 17:
                    self.replica_directory_id = inner.uuid()
                elif tag == 1 and version >= 18:
                    self.high_watermark = inner.int64()
                else:
                    unknown.append((tag, data))
                    continue
                inner.finish()
            self.unknown_tags = tuple(unknown)
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 12
        writer.int32(self.partition)
        if version >= 9:
            writer.int32(self.current_leader_epoch)
        writer.int64(self.fetch_offset)
        if version >= 12:
            writer.int32(self.last_fetched_epoch)
        elif self.last_fetched_epoch != -1:
            raise absent("FetchPartition.last_fetched_epoch", version)
        if version >= 5:
            writer.int64(self.log_start_offset)
        writer.int32(self.partition_max_bytes)
        if flexible:
            tags = list(self.unknown_tags)
            if self.replica_directory_id != ZERO_UUID and version >= 17:
                inner = Writer()
                inner.uuid(self.replica_directory_id)
                tags.append((0, inner.value()))
            if self.high_watermark != 9223372036854775807 and version >= 18:
                inner = Writer()
                inner.int64(self.high_watermark)
                tags.append((1, inner.value()))
            writer.tagged_fields(tags)
        elif self.unknown_tags:
            raise absent("FetchPartition.unknown_tags", version)


@dataclass(slots=True)
class FetchTopic(WireStruct):
    topic: str = ""
    topic_id: UUID = ZERO_UUID
    partitions: list[FetchPartition] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 12
        self = cls()
        if version <= 12:
            self.topic = reader.string(flexible)
        if version >= 13:
            self.topic_id = reader.uuid()
        self.partitions = reader.structs(FetchPartition, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 12
        if version <= 12:
            writer.string(self.topic, flexible)
        if version >= 13:
            writer.uuid(self.topic_id)
        writer.structs(self.partitions, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("FetchTopic.unknown_tags", version)


@dataclass(slots=True)
class ForgottenTopic(WireStruct):
    topic: str = ""
    topic_id: UUID = ZERO_UUID
    partitions: list[int] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 12
        self = cls()
        if version <= 12:
            self.topic = reader.string(flexible)
        if version >= 13:
            self.topic_id = reader.uuid()
        self.partitions = reader.array(reader.int32, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 12
        if version <= 12:
            writer.string(self.topic, flexible)
        if version >= 13:
            writer.uuid(self.topic_id)
        writer.array(self.partitions, writer.int32, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("ForgottenTopic.unknown_tags", version)


@dataclass(slots=True)
class FetchRequest(WireMessage):
    api_key: ClassVar[int] = 1
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 18

    cluster_id: str | None = None
    replica_id: int = -1
    replica_state: ReplicaState = field(default_factory=ReplicaState)
    max_wait_ms: int = 0
    min_bytes: int = 0
    max_bytes: int = 2147483647
    isolation_level: int = 0
    session_id: int = 0
    session_epoch: int = -1
    topics: list[FetchTopic] = field(default_factory=list)
    forgotten_topics_data: list[ForgottenTopic] = field(default_factory=list)
    rack_id: str = ""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 12
        self = cls()
        if version <= 14:
            self.replica_id = reader.int32()
        self.max_wait_ms = reader.int32()
        self.min_bytes = reader.int32()
        if version >= 3:
            self.max_bytes = reader.int32()
        if version >= 4:
            self.isolation_level = reader.int8()
        if version >= 7:
            self.session_id = reader.int32()
        if version >= 7:
            self.session_epoch = reader.int32()
        self.topics = reader.structs(FetchTopic, version, flexible)
        if version >= 7:
            self.forgotten_topics_data = reader.structs(ForgottenTopic, version, flexible)
        if version >= 11:
            self.rack_id = reader.string(flexible)
        if flexible:
            unknown = []
            for tag, data in reader.tagged_fields():
                inner = Reader(data)
                if tag == 0:
                    self.cluster_id = inner.nullable_string(True)
                elif tag == 1 and version >= 15:
                    self.replica_state = ReplicaState.read(inner, version)
                else:
                    unknown.append((tag, data))
                    continue
                inner.finish()
            self.unknown_tags = tuple(unknown)
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 12
        if version <= 14:
            writer.int32(self.replica_id)
        elif self.replica_id != -1:
            raise absent("FetchRequest.replica_id", version)
        writer.int32(self.max_wait_ms)
        writer.int32(self.min_bytes)
        if version >= 3:
            writer.int32(self.max_bytes)
        if version >= 4:
            writer.int8(self.isolation_level)
        if version >= 7:
            writer.int32(self.session_id)
        if version >= 7:
            writer.int32(self.session_epoch)
        writer.structs(self.topics, version, flexible)
        if version >= 7:
            writer.structs(self.forgotten_topics_data, version, flexible)
        elif self.forgotten_topics_data != []:
            raise absent("FetchRequest.forgotten_topics_data", version)
        if version >= 11:
            writer.string(self.rack_id, flexible)
        if flexible:
            tags = list(self.unknown_tags)
            if self.cluster_id is not None:
                inner = Writer()
                inner.nullable_string(self.cluster_id, True)
                tags.append((0, inner.value()))
            if self.replica_state != ReplicaState() and version >= 15:
                inner = Writer()
                self.replica_state.write(inner, version)
                tags.append((1, inner.value()))
            writer.tagged_fields(tags)
        elif self.unknown_tags:
            raise absent("FetchRequest.unknown_tags", version)
        elif self.replica_state != ReplicaState():
            raise absent("FetchRequest.replica_state", version)
