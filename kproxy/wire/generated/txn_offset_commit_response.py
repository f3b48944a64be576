"""TxnOffsetCommitResponse, versions 0 to 6."""
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
class TxnOffsetCommitResponsePartition(WireStruct):
    partition_index: int = 0
    error_code: int = 0
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        self.partition_index = reader.int32()
        self.error_code = reader.int16()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        writer.int32(self.partition_index)
        writer.int16(self.error_code)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("TxnOffsetCommitResponsePartition.unknown_tags", version)


@dataclass(slots=True)
class TxnOffsetCommitResponseTopic(WireStruct):
    name: str = ""
    topic_id: UUID = ZERO_UUID
    partitions: list[TxnOffsetCommitResponsePartition] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        if version <= 5:
            self.name = reader.string(flexible)
        if version >= 6:
            self.topic_id = reader.uuid()
        self.partitions = reader.structs(TxnOffsetCommitResponsePartition, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        if version <= 5:
            writer.string(self.name, flexible)
        if version >= 6:
            writer.uuid(self.topic_id)
        writer.structs(self.partitions, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("TxnOffsetCommitResponseTopic.unknown_tags", version)


@dataclass(slots=True)
class TxnOffsetCommitResponse(WireMessage):
    api_key: ClassVar[int] = 28
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 6

    throttle_time_ms: int = 0
    topics: list[TxnOffsetCommitResponseTopic] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        self.throttle_time_ms = reader.int32()
        self.topics = reader.structs(TxnOffsetCommitResponseTopic, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        writer.int32(self.throttle_time_ms)
        writer.structs(self.topics, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("TxnOffsetCommitResponse.unknown_tags", version)
