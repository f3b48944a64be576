"""DescribeConfigsRequest, versions 0 to 4."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class DescribeConfigsResource(WireStruct):
    resource_type: int = 0
    resource_name: str = ""
    configuration_keys: list[str] | None = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 4
        self = cls()
        self.resource_type = reader.int8()
        self.resource_name = reader.string(flexible)
        self.configuration_keys = reader.nullable_array(lambda: reader.string(flexible), flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 4
        writer.int8(self.resource_type)
        writer.string(self.resource_name, flexible)
        writer.nullable_array(self.configuration_keys, lambda item: writer.string(item, flexible), flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("DescribeConfigsResource.unknown_tags", version)


@dataclass(slots=True)
class DescribeConfigsRequest(WireMessage):
    api_key: ClassVar[int] = 32
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 4

    resources: list[DescribeConfigsResource] = field(default_factory=list)
    include_synonyms: bool = False
    include_documentation: bool = False
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 4
        self = cls()
        self.resources = reader.structs(DescribeConfigsResource, version, flexible)
        if version >= 1:
            self.include_synonyms = reader.boolean()
        if version >= 3:
            self.include_documentation = reader.boolean()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 4
        writer.structs(self.resources, version, flexible)
        if version >= 1:
            writer.boolean(self.include_synonyms)
        elif self.include_synonyms != False:
            raise absent("DescribeConfigsRequest.include_synonyms", version)
        if version >= 3:
            writer.boolean(self.include_documentation)
        elif self.include_documentation != False:
            raise absent("DescribeConfigsRequest.include_documentation", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("DescribeConfigsRequest.unknown_tags", version)
