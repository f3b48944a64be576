"""StreamsGroupHeartbeatRequest, versions 0 to 1."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class KeyValue(WireStruct):
    key: str = ""
    value: str = ""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.key = reader.string(True)
        self.value = reader.string(True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.key, True)
        writer.string(self.value, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class TopicInfo(WireStruct):
    name: str = ""
    partitions: int = 0
    replication_factor: int = 0
    topic_configs: list[KeyValue] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.name = reader.string(True)
        self.partitions = reader.int32()
        self.replication_factor = reader.int16()
        self.topic_configs = reader.structs(KeyValue, version, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.name, True)
        writer.int32(self.partitions)
        writer.int16(self.replication_factor)
        writer.structs(self.topic_configs, version, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class CopartitionGroup(WireStruct):
    source_topics: list[int] = field(default_factory=list)
    source_topic_regex: list[int] = field(default_factory=list)
    repartition_source_topics: list[int] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.source_topics = reader.array(reader.int16, True)
        self.source_topic_regex = reader.array(reader.int16, True)
        self.repartition_source_topics = reader.array(reader.int16, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.array(self.source_topics, writer.int16, True)
        writer.array(self.source_topic_regex, writer.int16, True)
        writer.array(self.repartition_source_topics, writer.int16, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class Subtopology(WireStruct):
    subtopology_id: str = ""
    source_topics: list[str] = field(default_factory=list)
    source_topic_regex: list[str] = field(default_factory=list)
    state_changelog_topics: list[TopicInfo] = field(default_factory=list)
    repartition_sink_topics: list[str] = field(default_factory=list)
    repartition_source_topics: list[TopicInfo] = field(default_factory=list)
    copartition_groups: list[CopartitionGroup] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.subtopology_id = reader.string(True)
        self.source_topics = reader.array(lambda: reader.string(True), True)
        self.source_topic_regex = reader.array(lambda: reader.string(True), True)
        self.state_changelog_topics = reader.structs(TopicInfo, version, True)
        self.repartition_sink_topics = reader.array(lambda: reader.string(True), True)
        self.repartition_source_topics = reader.structs(TopicInfo, version, True)
        self.copartition_groups = reader.structs(CopartitionGroup, version, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.subtopology_id, True)
        writer.array(self.source_topics, lambda item: writer.string(item, True), True)
        writer.array(self.source_topic_regex, lambda item: writer.string(item, True), True)
        writer.structs(self.state_changelog_topics, version, True)
        writer.array(self.repartition_sink_topics, lambda item: writer.string(item, True), True)
        writer.structs(self.repartition_source_topics, version, True)
        writer.structs(self.copartition_groups, version, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class Topology(WireStruct):
    epoch: int = 0
    subtopologies: list[Subtopology] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.epoch = reader.int32()
        self.subtopologies = reader.structs(Subtopology, version, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int32(self.epoch)
        writer.structs(self.subtopologies, version, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class TaskIds(WireStruct):
    subtopology_id: str = ""
    partitions: list[int] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.subtopology_id = reader.string(True)
        self.partitions = reader.array(reader.int32, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.subtopology_id, True)
        writer.array(self.partitions, writer.int32, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class Endpoint(WireStruct):
    host: str = ""
    port: int = 0
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.host = reader.string(True)
        self.port = reader.uint16()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.host, True)
        writer.uint16(self.port)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class TaskOffset(WireStruct):
    subtopology_id: str = ""
    partition: int = 0
    offset: int = 0
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.subtopology_id = reader.string(True)
        self.partition = reader.int32()
        self.offset = reader.int64()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.subtopology_id, True)
        writer.int32(self.partition)
        writer.int64(self.offset)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class StreamsGroupHeartbeatRequest(WireMessage):
    api_key: ClassVar[int] = 88
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 1

    group_id: str = ""
    member_id: str = ""
    member_epoch: int = 0
    endpoint_information_epoch: int = 0
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    topology: Topology | None = None
    active_tasks: list[TaskIds] | None = None
    standby_tasks: list[TaskIds] | None = None
    warmup_tasks: list[TaskIds] | None = None
    process_id: str | None = None
    user_endpoint: Endpoint | None = None
    client_tags: list[KeyValue] | None = None
    task_offsets: list[TaskOffset] | None = None
    task_end_offsets: list[TaskOffset] | None = None
    shutdown_application: bool = False
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.group_id = reader.string(True)
        self.member_id = reader.string(True)
        self.member_epoch = reader.int32()
        self.endpoint_information_epoch = reader.int32()
        self.instance_id = reader.nullable_string(True)
        self.rack_id = reader.nullable_string(True)
        self.rebalance_timeout_ms = reader.int32()
        self.topology = reader.nullable_struct(Topology, version)
        self.active_tasks = reader.nullable_structs(TaskIds, version, True)
        self.standby_tasks = reader.nullable_structs(TaskIds, version, True)
        self.warmup_tasks = reader.nullable_structs(TaskIds, version, True)
        self.process_id = reader.nullable_string(True)
        self.user_endpoint = reader.nullable_struct(Endpoint, version)
        self.client_tags = reader.nullable_structs(KeyValue, version, True)
        self.task_offsets = reader.nullable_structs(TaskOffset, version, True)
        self.task_end_offsets = reader.nullable_structs(TaskOffset, version, True)
        self.shutdown_application = reader.boolean()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.group_id, True)
        writer.string(self.member_id, True)
        writer.int32(self.member_epoch)
        writer.int32(self.endpoint_information_epoch)
        writer.nullable_string(self.instance_id, True)
        writer.nullable_string(self.rack_id, True)
        writer.int32(self.rebalance_timeout_ms)
        writer.nullable_struct(self.topology, version)
        writer.nullable_structs(self.active_tasks, version, True)
        writer.nullable_structs(self.standby_tasks, version, True)
        writer.nullable_structs(self.warmup_tasks, version, True)
        writer.nullable_string(self.process_id, True)
        writer.nullable_struct(self.user_endpoint, version)
        writer.nullable_structs(self.client_tags, version, True)
        writer.nullable_structs(self.task_offsets, version, True)
        writer.nullable_structs(self.task_end_offsets, version, True)
        writer.boolean(self.shutdown_application)
        writer.tagged_fields(self.unknown_tags)
