"""DeleteTopicsResponse, versions 0 to 6."""
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
class DeletableTopicResult(WireStruct):
    name: str | None = ""
    topic_id: UUID = ZERO_UUID
    error_code: int = 0
    error_message: str | None = None
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 4
        self = cls()
        self.name = reader.nullable_string(flexible) if version >= 6 else reader.string(flexible)
        if version >= 6:
            self.topic_id = reader.uuid()
        self.error_code = reader.int16()
        if version >= 5:
            self.error_message = reader.nullable_string(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 4
        writer.nullable_string(self.name, flexible) if version >= 6 else writer.string(not_null(self.name, "DeletableTopicResult.name", version), flexible)
        if version >= 6:
            writer.uuid(self.topic_id)
        writer.int16(self.error_code)
        if version >= 5:
            writer.nullable_string(self.error_message, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("DeletableTopicResult.unknown_tags", version)


@dataclass(slots=True)
class DeleteTopicsResponse(WireMessage):
    api_key: ClassVar[int] = 20
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 6

    throttle_time_ms: int = 0
    responses: list[DeletableTopicResult] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 4
        self = cls()
        if version >= 1:
            self.throttle_time_ms = reader.int32()
        self.responses = reader.structs(DeletableTopicResult, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 4
        if version >= 1:
            writer.int32(self.throttle_time_ms)
        writer.structs(self.responses, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("DeleteTopicsResponse.unknown_tags", version)
