"""ListGroupsResponse, versions 0 to 5."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class ListedGroup(WireStruct):
    group_id: str = ""
    protocol_type: str = ""
    group_state: str = ""
    group_type: str = ""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        self.group_id = reader.string(flexible)
        self.protocol_type = reader.string(flexible)
        if version >= 4:
            self.group_state = reader.string(flexible)
        if version >= 5:
            self.group_type = reader.string(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        writer.string(self.group_id, flexible)
        writer.string(self.protocol_type, flexible)
        if version >= 4:
            writer.string(self.group_state, flexible)
        if version >= 5:
            writer.string(self.group_type, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("ListedGroup.unknown_tags", version)


@dataclass(slots=True)
class ListGroupsResponse(WireMessage):
    api_key: ClassVar[int] = 16
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 5

    throttle_time_ms: int = 0
    error_code: int = 0
    groups: list[ListedGroup] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        if version >= 1:
            self.throttle_time_ms = reader.int32()
        self.error_code = reader.int16()
        self.groups = reader.structs(ListedGroup, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        if version >= 1:
            writer.int32(self.throttle_time_ms)
        writer.int16(self.error_code)
        writer.structs(self.groups, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("ListGroupsResponse.unknown_tags", version)
