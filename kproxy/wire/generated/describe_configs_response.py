"""DescribeConfigsResponse, versions 0 to 4."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class DescribeConfigsSynonym(WireStruct):
    name: str = ""
    value: str | None = ""
    source: int = 0
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 4
        self = cls()
        self.name = reader.string(flexible)
        self.value = reader.nullable_string(flexible)
        self.source = reader.int8()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 4
        writer.string(self.name, flexible)
        writer.nullable_string(self.value, flexible)
        writer.int8(self.source)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("DescribeConfigsSynonym.unknown_tags", version)


@dataclass(slots=True)
class DescribeConfigsResourceResult(WireStruct):
    name: str = ""
    value: str | None = ""
    read_only: bool = False
    is_default: bool = False
    config_source: int = -1
    is_sensitive: bool = False
    synonyms: list[DescribeConfigsSynonym] = field(default_factory=list)
    config_type: int = 0
    documentation: str | None = ""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 4
        self = cls()
        self.name = reader.string(flexible)
        self.value = reader.nullable_string(flexible)
        self.read_only = reader.boolean()
        if version <= 0:
            self.is_default = reader.boolean()
        if version >= 1:
            self.config_source = reader.int8()
        self.is_sensitive = reader.boolean()
        if version >= 1:
            self.synonyms = reader.structs(DescribeConfigsSynonym, version, flexible)
        if version >= 3:
            self.config_type = reader.int8()
        if version >= 3:
            self.documentation = reader.nullable_string(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 4
        writer.string(self.name, flexible)
        writer.nullable_string(self.value, flexible)
        writer.boolean(self.read_only)
        if version <= 0:
            writer.boolean(self.is_default)
        elif self.is_default != False:
            raise absent("DescribeConfigsResourceResult.is_default", version)
        if version >= 1:
            writer.int8(self.config_source)
        writer.boolean(self.is_sensitive)
        if version >= 1:
            writer.structs(self.synonyms, version, flexible)
        if version >= 3:
            writer.int8(self.config_type)
        if version >= 3:
            writer.nullable_string(self.documentation, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("DescribeConfigsResourceResult.unknown_tags", version)


@dataclass(slots=True)
class DescribeConfigsResult(WireStruct):
    error_code: int = 0
    error_message: str | None = ""
    resource_type: int = 0
    resource_name: str = ""
    configs: list[DescribeConfigsResourceResult] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 4
        self = cls()
        self.error_code = reader.int16()
        self.error_message = reader.nullable_string(flexible)
        self.resource_type = reader.int8()
        self.resource_name = reader.string(flexible)
        self.configs = reader.structs(DescribeConfigsResourceResult, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 4
        writer.int16(self.error_code)
        writer.nullable_string(self.error_message, flexible)
        writer.int8(self.resource_type)
        writer.string(self.resource_name, flexible)
        writer.structs(self.configs, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("DescribeConfigsResult.unknown_tags", version)


@dataclass(slots=True)
class DescribeConfigsResponse(WireMessage):
    api_key: ClassVar[int] = 32
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 4

    throttle_time_ms: int = 0
    results: list[DescribeConfigsResult] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 4
        self = cls()
        self.throttle_time_ms = reader.int32()
        self.results = reader.structs(DescribeConfigsResult, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 4
        writer.int32(self.throttle_time_ms)
        writer.structs(self.results, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("DescribeConfigsResponse.unknown_tags", version)
