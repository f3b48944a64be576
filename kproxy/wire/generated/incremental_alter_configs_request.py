"""IncrementalAlterConfigsRequest, versions 0 to 1."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class AlterableConfig(WireStruct):
    name: str = ""
    config_operation: int = 0
    value: str | None = ""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 1
        self = cls()
        self.name = reader.string(flexible)
        self.config_operation = reader.int8()
        self.value = reader.nullable_string(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 1
        writer.string(self.name, flexible)
        writer.int8(self.config_operation)
        writer.nullable_string(self.value, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("AlterableConfig.unknown_tags", version)


@dataclass(slots=True)
class AlterConfigsResource(WireStruct):
    resource_type: int = 0
    resource_name: str = ""
    configs: list[AlterableConfig] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 1
        self = cls()
        self.resource_type = reader.int8()
        self.resource_name = reader.string(flexible)
        self.configs = reader.structs(AlterableConfig, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 1
        writer.int8(self.resource_type)
        writer.string(self.resource_name, flexible)
        writer.structs(self.configs, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("AlterConfigsResource.unknown_tags", version)


@dataclass(slots=True)
class IncrementalAlterConfigsRequest(WireMessage):
    api_key: ClassVar[int] = 44
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 1

    resources: list[AlterConfigsResource] = field(default_factory=list)
    validate_only: bool = False
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 1
        self = cls()
        self.resources = reader.structs(AlterConfigsResource, version, flexible)
        self.validate_only = reader.boolean()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 1
        writer.structs(self.resources, version, flexible)
        writer.boolean(self.validate_only)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("IncrementalAlterConfigsRequest.unknown_tags", version)
