"""DeleteTopicsRequest, versions 0 to 6."""
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
class DeleteTopicState(WireStruct):
    name: str | None = None
    topic_id: UUID = ZERO_UUID
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.name = reader.nullable_string(True)
        self.topic_id = reader.uuid()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.nullable_string(self.name, True)
        writer.uuid(self.topic_id)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class DeleteTopicsRequest(WireMessage):
    api_key: ClassVar[int] = 20
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 6

    topics: list[DeleteTopicState] = field(default_factory=list)
    topic_names: list[str] = field(default_factory=list)
    timeout_ms: int = 0
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 4
        self = cls()
        if version >= 6:
            self.topics = reader.structs(DeleteTopicState, version, flexible)
        if version <= 5:
            self.topic_names = reader.array(lambda: reader.string(flexible), flexible)
        self.timeout_ms = reader.int32()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 4
        if version >= 6:
            writer.structs(self.topics, version, flexible)
        elif self.topics != []:
            raise absent("DeleteTopicsRequest.topics", version)
        if version <= 5:
            writer.array(self.topic_names, lambda item: writer.string(item, flexible), flexible)
        writer.int32(self.timeout_ms)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("DeleteTopicsRequest.unknown_tags", version)
