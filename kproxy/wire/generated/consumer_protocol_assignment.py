"""ConsumerProtocolAssignment, versions 0 to 3."""
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
class ConsumerProtocolAssignment(WireMessage):
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 3

    assigned_partitions: list[TopicPartition] = field(default_factory=list)
    user_data: bytes | None = None

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.assigned_partitions = reader.structs(TopicPartition, version, False)
        self.user_data = reader.nullable_blob(False)
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.structs(self.assigned_partitions, version, False)
        writer.nullable_blob(self.user_data, False)
