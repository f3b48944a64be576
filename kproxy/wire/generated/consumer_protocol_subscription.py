"""ConsumerProtocolSubscription, versions 0 to 3."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class TopicPartition(WireStruct):
    topic: str = ""
    partitions: list[int] = field(default_factory=list)

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.topic = reader.string(False)
        self.partitions = reader.array(reader.int32, False)
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.topic, False)
        writer.array(self.partitions, writer.int32, False)


@dataclass(slots=True)
class ConsumerProtocolSubscription(WireMessage):
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 3

    topics: list[str] = field(default_factory=list)
    user_data: bytes | None = None
    owned_partitions: list[TopicPartition] = field(default_factory=list)
    generation_id: int = -1
    rack_id: str | None = None

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.topics = reader.array(lambda: reader.string(False), False)
        self.user_data = reader.nullable_blob(False)
        if version >= 1:
            self.owned_partitions = reader.structs(TopicPartition, version, False)
        if version >= 2:
            self.generation_id = reader.int32()
        if version >= 3:
            self.rack_id = reader.nullable_string(False)
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.array(self.topics, lambda item: writer.string(item, False), False)
        writer.nullable_blob(self.user_data, False)
        if version >= 1:
            writer.structs(self.owned_partitions, version, False)
        if version >= 2:
            writer.int32(self.generation_id)
        if version >= 3:
            writer.nullable_string(self.rack_id, False)
