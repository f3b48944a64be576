"""CreateTopicsRequest, versions 0 to 7."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class CreatableReplicaAssignment(WireStruct):
    partition_index: int = 0
    broker_ids: list[int] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 5
        self = cls()
        self.partition_index = reader.int32()
        self.broker_ids = reader.array(reader.int32, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 5
        writer.int32(self.partition_index)
        writer.array(self.broker_ids, writer.int32, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("CreatableReplicaAssignment.unknown_tags", version)


@dataclass(slots=True)
class CreatableTopicConfig(WireStruct):
    name: str = ""
    value: str | None = ""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 5
        self = cls()
        self.name = reader.string(flexible)
        self.value = reader.nullable_string(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 5
        writer.string(self.name, flexible)
        writer.nullable_string(self.value, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("CreatableTopicConfig.unknown_tags", version)


@dataclass(slots=True)
class CreatableTopic(WireStruct):
    name: str = ""
    num_partitions: int = 0
    replication_factor: int = 0
    assignments: list[CreatableReplicaAssignment] = field(default_factory=list)
    configs: list[CreatableTopicConfig] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 5
        self = cls()
        self.name = reader.string(flexible)
        self.num_partitions = reader.int32()
        self.replication_factor = reader.int16()
        self.assignments = reader.structs(CreatableReplicaAssignment, version, flexible)
        self.configs = reader.structs(CreatableTopicConfig, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 5
        writer.string(self.name, flexible)
        writer.int32(self.num_partitions)
        writer.int16(self.replication_factor)
        writer.structs(self.assignments, version, flexible)
        writer.structs(self.configs, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("CreatableTopic.unknown_tags", version)


@dataclass(slots=True)
class CreateTopicsRequest(WireMessage):
    api_key: ClassVar[int] = 19
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 7

    topics: list[CreatableTopic] = field(default_factory=list)
    timeout_ms: int = 60000
    validate_only: bool = False
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 5
        self = cls()
        self.topics = reader.structs(CreatableTopic, version, flexible)
        self.timeout_ms = reader.int32()
        if version >= 1:
            self.validate_only = reader.boolean()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 5
        writer.structs(self.topics, version, flexible)
        writer.int32(self.timeout_ms)
        if version >= 1:
            writer.boolean(self.validate_only)
        elif self.validate_only != False:
            raise absent("CreateTopicsRequest.validate_only", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("CreateTopicsRequest.unknown_tags", version)
