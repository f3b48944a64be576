"""ListConfigResourcesResponse, versions 0 to 1."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class ConfigResource(WireStruct):
    resource_name: str = ""
    resource_type: int = 16
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.resource_name = reader.string(True)
        if version >= 1:
            self.resource_type = reader.int8()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.resource_name, True)
        if version >= 1:
            writer.int8(self.resource_type)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class ListConfigResourcesResponse(WireMessage):
    api_key: ClassVar[int] = 74
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 1

    throttle_time_ms: int = 0
    error_code: int = 0
    config_resources: list[ConfigResource] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.throttle_time_ms = reader.int32()
        self.error_code = reader.int16()
        self.config_resources = reader.structs(ConfigResource, version, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int32(self.throttle_time_ms)
        writer.int16(self.error_code)
        writer.structs(self.config_resources, version, True)
        writer.tagged_fields(self.unknown_tags)
