"""ProduceResponse, versions 0 to 13."""
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
class BatchIndexAndErrorMessage(WireStruct):
    batch_index: int = 0
    batch_index_error_message: str | None = None
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 9
        self = cls()
        self.batch_index = reader.int32()
        self.batch_index_error_message = reader.nullable_string(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 9
        writer.int32(self.batch_index)
        writer.nullable_string(self.batch_index_error_message, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("BatchIndexAndErrorMessage.unknown_tags", version)


@dataclass(slots=True)
class LeaderIdAndEpoch(WireStruct):
    leader_id: int = -1
    leader_epoch: int = -1
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.leader_id = reader.int32()
        self.leader_epoch = reader.int32()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int32(self.leader_id)
        writer.int32(self.leader_epoch)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class PartitionProduceResponse(WireStruct):
    index: int = 0
    error_code: int = 0
    base_offset: int = 0
    log_append_time_ms: int = -1
    log_start_offset: int = -1
    record_errors: list[BatchIndexAndErrorMessage] = field(default_factory=list)
    error_message: str | None = None
    current_leader: LeaderIdAndEpoch = field(default_factory=LeaderIdAndEpoch)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 9
        self = cls()
        self.index = reader.int32()
        self.error_code = reader.int16()
        self.base_offset = reader.int64()
        if version >= 2:
            self.log_append_time_ms = reader.int64()
        if version >= 5:
            self.log_start_offset = reader.int64()
        if version >= 8:
            self.record_errors = reader.structs(BatchIndexAndErrorMessage, version, flexible)
        if version >= 8:
            self.error_message = reader.nullable_string(flexible)
        if flexible:
            unknown = []
            for tag, data in reader.tagged_fields():
                inner = Reader(data)
                if tag == 0 and version >= 10:
                    self.current_leader = LeaderIdAndEpoch.read(inner, version)
                else:
                    unknown.append((tag, data))
                    continue
                inner.finish()
            self.unknown_tags = tuple(unknown)
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 9
        writer.int32(self.index)
        writer.int16(self.error_code)
        writer.int64(self.base_offset)
        if version >= 2:
            writer.int64(self.log_append_time_ms)
        if version >= 5:
            writer.int64(self.log_start_offset)
        if version >= 8:
            writer.structs(self.record_errors, version, flexible)
        if version >= 8:
            writer.nullable_string(self.error_message, flexible)
        if flexible:
            tags = list(self.unknown_tags)
            if self.current_leader != LeaderIdAndEpoch() and version >= 10:
                inner = Writer()
                self.current_leader.write(inner, version)
                tags.append((0, inner.value()))
            writer.tagged_fields(tags)
        elif self.unknown_tags:
            raise absent("PartitionProduceResponse.unknown_tags", version)
        elif self.current_leader != LeaderIdAndEpoch():
            raise absent("PartitionProduceResponse.current_leader", version)


@dataclass(slots=True)
class TopicProduceResponse(WireStruct):
    name: str = ""
    topic_id: UUID = ZERO_UUID
    partition_responses: list[PartitionProduceResponse] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 9
        self = cls()
        if version <= 12:
            self.name = reader.string(flexible)
        if version >= 13:
            self.topic_id = reader.uuid()
        self.partition_responses = reader.structs(PartitionProduceResponse, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 9
        if version <= 12:
            writer.string(self.name, flexible)
        if version >= 13:
            writer.uuid(self.topic_id)
        writer.structs(self.partition_responses, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("TopicProduceResponse.unknown_tags", version)


@dataclass(slots=True)
class NodeEndpoint(WireStruct):
    node_id: int = 0
    host: str = ""
    port: int = 0
    rack: str | None = None
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.node_id = reader.int32()
        self.host = reader.string(True)
        self.port = reader.int32()
        self.rack = reader.nullable_string(True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int32(self.node_id)
        writer.string(self.host, True)
        writer.int32(self.port)
        writer.nullable_string(self.rack, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class ProduceResponse(WireMessage):
    api_key: ClassVar[int] = 0
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 13

    responses: list[TopicProduceResponse] = field(default_factory=list)
    throttle_time_ms: int = 0
    node_endpoints: list[NodeEndpoint] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 9
        self = cls()
        self.responses = reader.structs(TopicProduceResponse, version, flexible)
        if version >= 1:
            self.throttle_time_ms = reader.int32()
        if flexible:
            unknown = []
            for tag, data in reader.tagged_fields():
                inner = Reader(data)
                if tag == 0 and version >= 10:
                    self.node_endpoints = inner.structs(NodeEndpoint, version, True)
                else:
                    unknown.append((tag, data))
                    continue
                inner.finish()
            self.unknown_tags = tuple(unknown)
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 9
        writer.structs(self.responses, version, flexible)
        if version >= 1:
            writer.int32(self.throttle_time_ms)
        if flexible:
            tags = list(self.unknown_tags)
            if self.node_endpoints != [] and version >= 10:
                inner = Writer()
                inner.structs(self.node_endpoints, version, True)
                tags.append((0, inner.value()))
            writer.tagged_fields(tags)
        elif self.unknown_tags:
            raise absent("ProduceResponse.unknown_tags", version)
        elif self.node_endpoints != []:
            raise absent("ProduceResponse.node_endpoints", version)
