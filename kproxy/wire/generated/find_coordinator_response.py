"""FindCoordinatorResponse, versions 0 to 6."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class Coordinator(WireStruct):
    key: str = ""
    node_id: int = 0
    host: str = ""
    port: int = 0
    error_code: int = 0
    error_message: str | None = ""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.key = reader.string(True)
        self.node_id = reader.int32()
        self.host = reader.string(True)
        self.port = reader.int32()
        self.error_code = reader.int16()
        self.error_message = reader.nullable_string(True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.key, True)
        writer.int32(self.node_id)
        writer.string(self.host, True)
        writer.int32(self.port)
        writer.int16(self.error_code)
        writer.nullable_string(self.error_message, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class FindCoordinatorResponse(WireMessage):
    api_key: ClassVar[int] = 10
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 6

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    node_id: int = 0
    host: str = ""
    port: int = 0
    coordinators: list[Coordinator] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        if version >= 1:
            self.throttle_time_ms = reader.int32()
        if version <= 3:
            self.error_code = reader.int16()
        if 1 <= version <= 3:
            self.error_message = reader.nullable_string(flexible)
        if version <= 3:
            self.node_id = reader.int32()
        if version <= 3:
            self.host = reader.string(flexible)
        if version <= 3:
            self.port = reader.int32()
        if version >= 4:
            self.coordinators = reader.structs(Coordinator, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        if version >= 1:
            writer.int32(self.throttle_time_ms)
        if version <= 3:
            writer.int16(self.error_code)
        elif self.error_code != 0:
            raise absent("FindCoordinatorResponse.error_code", version)
        if 1 <= version <= 3:
            writer.nullable_string(self.error_message, flexible)
        if version <= 3:
            writer.int32(self.node_id)
        elif self.node_id != 0:
            raise absent("FindCoordinatorResponse.node_id", version)
        if version <= 3:
            writer.string(self.host, flexible)
        elif self.host != "":
            raise absent("FindCoordinatorResponse.host", version)
        if version <= 3:
            writer.int32(self.port)
        elif self.port != 0:
            raise absent("FindCoordinatorResponse.port", version)
        if version >= 4:
            writer.structs(self.coordinators, version, flexible)
        elif self.coordinators != []:
            raise absent("FindCoordinatorResponse.coordinators", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("FindCoordinatorResponse.unknown_tags", version)
