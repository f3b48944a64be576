"""ProduceRequest, versions 0 to 13."""
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
class PartitionProduceData(WireStruct):
    index: int = 0
    records: bytes | None = None
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 9
        self = cls()
        self.index = reader.int32()
        self.records = reader.nullable_blob(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 9
        writer.int32(self.index)
        writer.nullable_blob(self.records, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("PartitionProduceData.unknown_tags", version)


@dataclass(slots=True)
class TopicProduceData(WireStruct):
    name: str = ""
    topic_id: UUID = ZERO_UUID
    partition_data: list[PartitionProduceData] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 9
        self = cls()
        if version <= 12:
            self.name = reader.string(flexible)
        if version >= 13:
            self.topic_id = reader.uuid()
        self.partition_data = reader.structs(PartitionProduceData, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 9
        if version <= 12:
            writer.string(self.name, flexible)
        if version >= 13:
            writer.uuid(self.topic_id)
        writer.structs(self.partition_data, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("TopicProduceData.unknown_tags", version)


@dataclass(slots=True)
class ProduceRequest(WireMessage):
    api_key: ClassVar[int] = 0
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 13

    transactional_id: str | None = None
    acks: int = 0
    timeout_ms: int = 0
    topic_data: list[TopicProduceData] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 9
        self = cls()
        if version >= 3:
            self.transactional_id = reader.nullable_string(flexible)
        self.acks = reader.int16()
        self.timeout_ms = reader.int32()
        self.topic_data = reader.structs(TopicProduceData, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 9
        if version >= 3:
            writer.nullable_string(self.transactional_id, flexible)
        elif self.transactional_id is not None:
            raise absent("ProduceRequest.transactional_id", version)
        writer.int16(self.acks)
        writer.int32(self.timeout_ms)
        writer.structs(self.topic_data, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("ProduceRequest.unknown_tags", version)
