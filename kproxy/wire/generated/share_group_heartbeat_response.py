"""ShareGroupHeartbeatResponse, versions 1 to 1."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from uuid import UUID
from kproxy.wire.message import WireMessage, WireStruct
from kproxy.wire.primitives import ZERO_UUID, Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class TopicPartitions(WireStruct):
    topic_id: UUID = ZERO_UUID
    partitions: list[int] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.topic_id = reader.uuid()
        self.partitions = reader.array(reader.int32, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.uuid(self.topic_id)
        writer.array(self.partitions, writer.int32, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class Assignment(WireStruct):
    topic_partitions: list[TopicPartitions] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.topic_partitions = reader.structs(TopicPartitions, version, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.structs(self.topic_partitions, version, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class ShareGroupHeartbeatResponse(WireMessage):
    api_key: ClassVar[int] = 76
    min_version: ClassVar[int] = 1
    max_version: ClassVar[int] = 1

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Assignment | None = None
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.throttle_time_ms = reader.int32()
        self.error_code = reader.int16()
        self.error_message = reader.nullable_string(True)
        self.member_id = reader.nullable_string(True)
        self.member_epoch = reader.int32()
        self.heartbeat_interval_ms = reader.int32()
        self.assignment = reader.nullable_struct(Assignment, version)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int32(self.throttle_time_ms)
        writer.int16(self.error_code)
        writer.nullable_string(self.error_message, True)
        writer.nullable_string(self.member_id, True)
        writer.int32(self.member_epoch)
        writer.int32(self.heartbeat_interval_ms)
        writer.nullable_struct(self.assignment, version)
        writer.tagged_fields(self.unknown_tags)
