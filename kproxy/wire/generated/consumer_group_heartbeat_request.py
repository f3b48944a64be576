"""ConsumerGroupHeartbeatRequest, versions 0 to 1."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from uuid import UUID
from kproxy.wire.message import WireMessage, WireStruct, absent
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
class ConsumerGroupHeartbeatRequest(WireMessage):
    api_key: ClassVar[int] = 68
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 1

    group_id: str = ""
    member_id: str = ""
    member_epoch: int = 0
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    subscribed_topic_names: list[str] | None = None
    subscribed_topic_regex: str | None = None
    server_assignor: str | None = None
    topic_partitions: list[TopicPartitions] | None = None
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.group_id = reader.string(True)
        self.member_id = reader.string(True)
        self.member_epoch = reader.int32()
        self.instance_id = reader.nullable_string(True)
        self.rack_id = reader.nullable_string(True)
        self.rebalance_timeout_ms = reader.int32()
        self.subscribed_topic_names = reader.nullable_array(lambda: reader.string(True), True)
        if version >= 1:
            self.subscribed_topic_regex = reader.nullable_string(True)
        self.server_assignor = reader.nullable_string(True)
        self.topic_partitions = reader.nullable_structs(TopicPartitions, version, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.group_id, True)
        writer.string(self.member_id, True)
        writer.int32(self.member_epoch)
        writer.nullable_string(self.instance_id, True)
        writer.nullable_string(self.rack_id, True)
        writer.int32(self.rebalance_timeout_ms)
        writer.nullable_array(self.subscribed_topic_names, lambda item: writer.string(item, True), True)
        if version >= 1:
            writer.nullable_string(self.subscribed_topic_regex, True)
        elif self.subscribed_topic_regex is not None:
            raise absent("ConsumerGroupHeartbeatRequest.subscribed_topic_regex", version)
        writer.nullable_string(self.server_assignor, True)
        writer.nullable_structs(self.topic_partitions, version, True)
        writer.tagged_fields(self.unknown_tags)
