"""DeleteGroupsResponse, versions 0 to 3."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class DeletableGroupResult(WireStruct):
    group_id: str = ""
    error_code: int = 0
    error_message: str | None = None
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 2
        self = cls()
        self.group_id = reader.string(flexible)
        self.error_code = reader.int16()
        if version >= 3:
            self.error_message = reader.nullable_string(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 2
        writer.string(self.group_id, flexible)
        writer.int16(self.error_code)
        if version >= 3:
            writer.nullable_string(self.error_message, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("DeletableGroupResult.unknown_tags", version)


@dataclass(slots=True)
class DeleteGroupsResponse(WireMessage):
    api_key: ClassVar[int] = 42
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 3

    throttle_time_ms: int = 0
    results: list[DeletableGroupResult] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 2
        self = cls()
        self.throttle_time_ms = reader.int32()
        self.results = reader.structs(DeletableGroupResult, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 2
        writer.int32(self.throttle_time_ms)
        writer.structs(self.results, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("DeleteGroupsResponse.unknown_tags", version)
