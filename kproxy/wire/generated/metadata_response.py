"""MetadataResponse, versions 0 to 13."""
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
class MetadataResponseBroker(WireStruct):
    node_id: int = 0
    host: str = ""
    port: int = 0
    rack: str | None = None
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 9
        self = cls()
        self.node_id = reader.int32()
        self.host = reader.string(flexible)
        self.port = reader.int32()
        if version >= 1:
            self.rack = reader.nullable_string(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 9
        writer.int32(self.node_id)
        writer.string(self.host, flexible)
        writer.int32(self.port)
        if version >= 1:
            writer.nullable_string(self.rack, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("MetadataResponseBroker.unknown_tags", version)


@dataclass(slots=True)
class MetadataResponsePartition(WireStruct):
    error_code: int = 0
    partition_index: int = 0
    leader_id: int = 0
    leader_epoch: int = -1
    replica_nodes: list[int] = field(default_factory=list)
    isr_nodes: list[int] = field(default_factory=list)
    offline_replicas: list[int] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 9
        self = cls()
        self.error_code = reader.int16()
        self.partition_index = reader.int32()
        self.leader_id = reader.int32()
        if version >= 7:
            self.leader_epoch = reader.int32()
        self.replica_nodes = reader.array(reader.int32, flexible)
        self.isr_nodes = reader.array(reader.int32, flexible)
        if version >= 5:
            self.offline_replicas = reader.array(reader.int32, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 9
        writer.int16(self.error_code)
        writer.int32(self.partition_index)
        writer.int32(self.leader_id)
        if version >= 7:
            writer.int32(self.leader_epoch)
        writer.array(self.replica_nodes, writer.int32, flexible)
        writer.array(self.isr_nodes, writer.int32, flexible)
        if version >= 5:
            writer.array(self.offline_replicas, writer.int32, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("MetadataResponsePartition.unknown_tags", version)


@dataclass(slots=True)
class MetadataResponseTopic(WireStruct):
    error_code: int = 0
    name: str | None = ""
    topic_id: UUID = ZERO_UUID
    is_internal: bool = False
    partitions: list[MetadataResponsePartition] = field(default_factory=list)
    topic_authorized_operations: int = -2147483648
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 9
        self = cls()
        self.error_code = reader.int16()
        self.name = reader.nullable_string(flexible) if version >= 12 else reader.string(flexible)
        if version >= 10:
            self.topic_id = reader.uuid()
        if version >= 1:
            self.is_internal = reader.boolean()
        self.partitions = reader.structs(MetadataResponsePartition, version, flexible)
        if version >= 8:
            self.topic_authorized_operations = reader.int32()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 9
        writer.int16(self.error_code)
        writer.nullable_string(self.name, flexible) if version >= 12 else writer.string(not_null(self.name, "MetadataResponseTopic.name", version), flexible)
        if version >= 10:
            writer.uuid(self.topic_id)
        if version >= 1:
            writer.boolean(self.is_internal)
        writer.structs(self.partitions, version, flexible)
        if version >= 8:
            writer.int32(self.topic_authorized_operations)
        elif self.topic_authorized_operations != -2147483648:
            raise absent("MetadataResponseTopic.topic_authorized_operations", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("MetadataResponseTopic.unknown_tags", version)


@dataclass(slots=True)
class MetadataResponse(WireMessage):
    api_key: ClassVar[int] = 3
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 13

    throttle_time_ms: int = 0
    brokers: list[MetadataResponseBroker] = field(default_factory=list)
    cluster_id: str | None = None
    controller_id: int = -1
    topics: list[MetadataResponseTopic] = field(default_factory=list)
    cluster_authorized_operations: int = -2147483648
    error_code: int = 0
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 9
        self = cls()
        if version >= 3:
            self.throttle_time_ms = reader.int32()
        self.brokers = reader.structs(MetadataResponseBroker, version, flexible)
        if version >= 2:
            self.cluster_id = reader.nullable_string(flexible)
        if version >= 1:
            self.controller_id = reader.int32()
        self.topics = reader.structs(MetadataResponseTopic, version, flexible)
        if 8 <= version <= 10:
            self.cluster_authorized_operations = reader.int32()
        if version >= 13:
            self.error_code = reader.int16()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 9
        if version >= 3:
            writer.int32(self.throttle_time_ms)
        writer.structs(self.brokers, version, flexible)
        if version >= 2:
            writer.nullable_string(self.cluster_id, flexible)
        if version >= 1:
            writer.int32(self.controller_id)
        writer.structs(self.topics, version, flexible)
        if 8 <= version <= 10:
            writer.int32(self.cluster_authorized_operations)
        elif self.cluster_authorized_operations != -2147483648:
            raise absent("MetadataResponse.cluster_authorized_operations", version)
        if version >= 13:
            writer.int16(self.error_code)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("MetadataResponse.unknown_tags", version)
