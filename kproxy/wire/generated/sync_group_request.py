"""SyncGroupRequest, versions 0 to 5."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class SyncGroupRequestAssignment(WireStruct):
    member_id: str = ""
    assignment: bytes = b""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 4
        self = cls()
        self.member_id = reader.string(flexible)
        self.assignment = reader.blob(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 4
        writer.string(self.member_id, flexible)
        writer.blob(self.assignment, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("SyncGroupRequestAssignment.unknown_tags", version)


@dataclass(slots=True)
class SyncGroupRequest(WireMessage):
    api_key: ClassVar[int] = 14
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 5

    group_id: str = ""
    generation_id: int = 0
    member_id: str = ""
    group_instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignments: list[SyncGroupRequestAssignment] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 4
        self = cls()
        self.group_id = reader.string(flexible)
        self.generation_id = reader.int32()
        self.member_id = reader.string(flexible)
        if version >= 3:
            self.group_instance_id = reader.nullable_string(flexible)
        if version >= 5:
            self.protocol_type = reader.nullable_string(flexible)
        if version >= 5:
            self.protocol_name = reader.nullable_string(flexible)
        self.assignments = reader.structs(SyncGroupRequestAssignment, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 4
        writer.string(self.group_id, flexible)
        writer.int32(self.generation_id)
        writer.string(self.member_id, flexible)
        if version >= 3:
            writer.nullable_string(self.group_instance_id, flexible)
        elif self.group_instance_id is not None:
            raise absent("SyncGroupRequest.group_instance_id", version)
        if version >= 5:
            writer.nullable_string(self.protocol_type, flexible)
        if version >= 5:
            writer.nullable_string(self.protocol_name, flexible)
        writer.structs(self.assignments, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("SyncGroupRequest.unknown_tags", version)
