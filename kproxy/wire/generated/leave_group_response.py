"""LeaveGroupResponse, versions 0 to 5."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class MemberResponse(WireStruct):
    member_id: str = ""
    group_instance_id: str | None = ""
    error_code: int = 0
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 4
        self = cls()
        self.member_id = reader.string(flexible)
        self.group_instance_id = reader.nullable_string(flexible)
        self.error_code = reader.int16()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 4
        writer.string(self.member_id, flexible)
        writer.nullable_string(self.group_instance_id, flexible)
        writer.int16(self.error_code)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("MemberResponse.unknown_tags", version)


@dataclass(slots=True)
class LeaveGroupResponse(WireMessage):
    api_key: ClassVar[int] = 13
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 5

    throttle_time_ms: int = 0
    error_code: int = 0
    members: list[MemberResponse] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 4
        self = cls()
        if version >= 1:
            self.throttle_time_ms = reader.int32()
        self.error_code = reader.int16()
        if version >= 3:
            self.members = reader.structs(MemberResponse, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 4
        if version >= 1:
            writer.int32(self.throttle_time_ms)
        writer.int16(self.error_code)
        if version >= 3:
            writer.structs(self.members, version, flexible)
        elif self.members != []:
            raise absent("LeaveGroupResponse.members", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("LeaveGroupResponse.unknown_tags", version)
