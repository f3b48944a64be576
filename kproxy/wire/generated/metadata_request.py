"""MetadataRequest, versions 0 to 13."""
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
class MetadataRequestTopic(WireStruct):
    topic_id: UUID = ZERO_UUID
    name: str | None = ""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 9
        self = cls()
        if version >= 10:
            self.topic_id = reader.uuid()
        self.name = reader.nullable_string(flexible) if version >= 10 else reader.string(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 9
        if version >= 10:
            writer.uuid(self.topic_id)
        writer.nullable_string(self.name, flexible) if version >= 10 else writer.string(not_null(self.name, "MetadataRequestTopic.name", version), flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("MetadataRequestTopic.unknown_tags", version)


@dataclass(slots=True)
class MetadataRequest(WireMessage):
    api_key: ClassVar[int] = 3
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 13

    topics: list[MetadataRequestTopic] | None = field(default_factory=list)
    allow_auto_topic_creation: bool = True
    include_cluster_authorized_operations: bool = False
    include_topic_authorized_operations: bool = False
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 9
        self = cls()
        self.topics = reader.nullable_structs(MetadataRequestTopic, version, flexible) if version >= 1 else reader.structs(MetadataRequestTopic, version, flexible)
        if version >= 4:
            self.allow_auto_topic_creation = reader.boolean()
        if 8 <= version <= 10:
            self.include_cluster_authorized_operations = reader.boolean()
        if version >= 8:
            self.include_topic_authorized_operations = reader.boolean()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 9
        writer.nullable_structs(self.topics, version, flexible) if version >= 1 else writer.structs(not_null(self.topics, "MetadataRequest.topics", version), version, flexible)
        if version >= 4:
            writer.boolean(self.allow_auto_topic_creation)
        elif self.allow_auto_topic_creation != True:
            raise absent("MetadataRequest.allow_auto_topic_creation", version)
        if 8 <= version <= 10:
            writer.boolean(self.include_cluster_authorized_operations)
        elif self.include_cluster_authorized_operations != False:
            raise absent("MetadataRequest.include_cluster_authorized_operations", version)
        if version >= 8:
            writer.boolean(self.include_topic_authorized_operations)
        elif self.include_topic_authorized_operations != False:
            raise absent("MetadataRequest.include_topic_authorized_operations", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("MetadataRequest.unknown_tags", version)
