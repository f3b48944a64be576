"""StreamsGroupHeartbeatResponse, versions 0 to 1."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class Status(WireStruct):
    status_code: int = 0
    status_detail: str = ""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.status_code = reader.int8()
        self.status_detail = reader.string(True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int8(self.status_code)
        writer.string(self.status_detail, True)
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
class TopicPartition(WireStruct):
    topic: str = ""
    partitions: list[int] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.topic = reader.string(True)
        self.partitions = reader.array(reader.int32, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.topic, True)
        writer.array(self.partitions, writer.int32, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class EndpointToPartitions(WireStruct):
    user_endpoint: Endpoint = field(default_factory=Endpoint)
    active_partitions: list[TopicPartition] = field(default_factory=list)
    standby_partitions: list[TopicPartition] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.user_endpoint = Endpoint.read(reader, version)
        self.active_partitions = reader.structs(TopicPartition, version, True)
        self.standby_partitions = reader.structs(TopicPartition, version, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        self.user_endpoint.write(writer, version)
        writer.structs(self.active_partitions, version, True)
        writer.structs(self.standby_partitions, version, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class StreamsGroupHeartbeatResponse(WireMessage):
    api_key: ClassVar[int] = 88
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 1

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    member_id: str = ""
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    acceptable_recovery_lag_legacy: int = 0
    task_offset_interval_ms: int = 0
    acceptable_recovery_lag: int = -1
    status: list[Status] | None = field(default_factory=list)
    active_tasks: list[TaskIds] | None = None
    standby_tasks: list[TaskIds] | None = None
    warmup_tasks: list[TaskIds] | None = None
    topology_description_required: bool = False
    endpoint_information_epoch: int = 0
    partitions_by_user_endpoint: list[EndpointToPartitions] | None = None
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.throttle_time_ms = reader.int32()
        self.error_code = reader.int16()
        self.error_message = reader.nullable_string(True)
        self.member_id = reader.string(True)
        self.member_epoch = reader.int32()
        self.heartbeat_interval_ms = reader.int32()
        if version <= 0:
            self.acceptable_recovery_lag_legacy = reader.int32()
        self.task_offset_interval_ms = reader.int32()
        if version >= 1:
            self.acceptable_recovery_lag = reader.int64()
        self.status = reader.nullable_structs(Status, version, True)
        self.active_tasks = reader.nullable_structs(TaskIds, version, True)
        self.standby_tasks = reader.nullable_structs(TaskIds, version, True)
        self.warmup_tasks = reader.nullable_structs(TaskIds, version, True)
        if version >= 1:
            self.topology_description_required = reader.boolean()
        self.endpoint_information_epoch = reader.int32()
        self.partitions_by_user_endpoint = reader.nullable_structs(EndpointToPartitions, version, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int32(self.throttle_time_ms)
        writer.int16(self.error_code)
        writer.nullable_string(self.error_message, True)
        writer.string(self.member_id, True)
        writer.int32(self.member_epoch)
        writer.int32(self.heartbeat_interval_ms)
        if version <= 0:
            writer.int32(self.acceptable_recovery_lag_legacy)
        elif self.acceptable_recovery_lag_legacy != 0:
            raise absent("StreamsGroupHeartbeatResponse.acceptable_recovery_lag_legacy", version)
        writer.int32(self.task_offset_interval_ms)
        if version >= 1:
            writer.int64(self.acceptable_recovery_lag)
        writer.nullable_structs(self.status, version, True)
        writer.nullable_structs(self.active_tasks, version, True)
        writer.nullable_structs(self.standby_tasks, version, True)
        writer.nullable_structs(self.warmup_tasks, version, True)
        if version >= 1:
            writer.boolean(self.topology_description_required)
        elif self.topology_description_required != False:
            raise absent("StreamsGroupHeartbeatResponse.topology_description_required", version)
        writer.int32(self.endpoint_information_epoch)
        writer.nullable_structs(self.partitions_by_user_endpoint, version, True)
        writer.tagged_fields(self.unknown_tags)
