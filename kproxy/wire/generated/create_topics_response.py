"""CreateTopicsResponse, versions 0 to 7."""
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
class CreatableTopicConfigs(WireStruct):
    name: str = ""
    value: str | None = ""
    read_only: bool = False
    config_source: int = -1
    is_sensitive: bool = False
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.name = reader.string(True)
        self.value = reader.nullable_string(True)
        self.read_only = reader.boolean()
        self.config_source = reader.int8()
        self.is_sensitive = reader.boolean()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.name, True)
        writer.nullable_string(self.value, True)
        writer.boolean(self.read_only)
        writer.int8(self.config_source)
        writer.boolean(self.is_sensitive)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class CreatableTopicResult(WireStruct):
    name: str = ""
    topic_id: UUID = ZERO_UUID
    error_code: int = 0
    error_message: str | None = ""
    topic_config_error_code: int = 0
    num_partitions: int = -1
    replication_factor: int = -1
    configs: list[CreatableTopicConfigs] | None = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 5
        self = cls()
        self.name = reader.string(flexible)
        if version >= 7:
            self.topic_id = reader.uuid()
        self.error_code = reader.int16()
        if version >= 1:
            self.error_message = reader.nullable_string(flexible)
        if version >= 5:
            self.num_partitions = reader.int32()
        if version >= 5:
            self.replication_factor = reader.int16()
        if version >= 5:
            self.configs = reader.nullable_structs(CreatableTopicConfigs, version, flexible)
        if flexible:
            unknown = []
            for tag, data in reader.tagged_fields():
                inner = Reader(data)
                if tag == 0:
                    self.topic_config_error_code = inner.int16()
                else:
                    unknown.append((tag, data))
                    continue
                inner.finish()
            self.unknown_tags = tuple(unknown)
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 5
        writer.string(self.name, flexible)
        if version >= 7:
            writer.uuid(self.topic_id)
        writer.int16(self.error_code)
        if version >= 1:
            writer.nullable_string(self.error_message, flexible)
        if version >= 5:
            writer.int32(self.num_partitions)
        if version >= 5:
            writer.int16(self.replication_factor)
        if version >= 5:
            writer.nullable_structs(self.configs, version, flexible)
        if flexible:
            tags = list(self.unknown_tags)
            if self.topic_config_error_code != 0:
                inner = Writer()
                inner.int16(self.topic_config_error_code)
                tags.append((0, inner.value()))
            writer.tagged_fields(tags)
        elif self.unknown_tags:
            raise absent("CreatableTopicResult.unknown_tags", version)


@dataclass(slots=True)
class CreateTopicsResponse(WireMessage):
    api_key: ClassVar[int] = 19
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 7

    throttle_time_ms: int = 0
    topics: list[CreatableTopicResult] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 5
        self = cls()
        if version >= 2:
            self.throttle_time_ms = reader.int32()
        self.topics = reader.structs(CreatableTopicResult, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 5
        if version >= 2:
            writer.int32(self.throttle_time_ms)
        writer.structs(self.topics, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("CreateTopicsResponse.unknown_tags", version)
