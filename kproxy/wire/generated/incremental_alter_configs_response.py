"""IncrementalAlterConfigsResponse, versions 0 to 1."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class AlterConfigsResourceResponse(WireStruct):
    error_code: int = 0
    error_message: str | None = ""
    resource_type: int = 0
    resource_name: str = ""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 1
        self = cls()
        self.error_code = reader.int16()
        self.error_message = reader.nullable_string(flexible)
        self.resource_type = reader.int8()
        self.resource_name = reader.string(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 1
        writer.int16(self.error_code)
        writer.nullable_string(self.error_message, flexible)
        writer.int8(self.resource_type)
        writer.string(self.resource_name, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("AlterConfigsResourceResponse.unknown_tags", version)


@dataclass(slots=True)
class IncrementalAlterConfigsResponse(WireMessage):
    api_key: ClassVar[int] = 44
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 1

    throttle_time_ms: int = 0
    responses: list[AlterConfigsResourceResponse] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 1
        self = cls()
        self.throttle_time_ms = reader.int32()
        self.responses = reader.structs(AlterConfigsResourceResponse, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 1
        writer.int32(self.throttle_time_ms)
        writer.structs(self.responses, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("IncrementalAlterConfigsResponse.unknown_tags", version)
