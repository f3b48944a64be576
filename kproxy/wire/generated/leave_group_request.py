"""LeaveGroupRequest, versions 0 to 5."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class MemberIdentity(WireStruct):
    member_id: str = ""
    group_instance_id: str | None = None
    reason: str | None = None
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 4
        self = cls()
        self.member_id = reader.string(flexible)
        self.group_instance_id = reader.nullable_string(flexible)
        if version >= 5:
            self.reason = reader.nullable_string(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 4
        writer.string(self.member_id, flexible)
        writer.nullable_string(self.group_instance_id, flexible)
        if version >= 5:
            writer.nullable_string(self.reason, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("MemberIdentity.unknown_tags", version)


@dataclass(slots=True)
class LeaveGroupRequest(WireMessage):
    api_key: ClassVar[int] = 13
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 5

    group_id: str = ""
    member_id: str = ""
    members: list[MemberIdentity] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 4
        self = cls()
        self.group_id = reader.string(flexible)
        if version <= 2:
            self.member_id = reader.string(flexible)
        if version >= 3:
            self.members = reader.structs(MemberIdentity, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 4
        writer.string(self.group_id, flexible)
        if version <= 2:
            writer.string(self.member_id, flexible)
        elif self.member_id != "":
            raise absent("LeaveGroupRequest.member_id", version)
        if version >= 3:
            writer.structs(self.members, version, flexible)
        elif self.members != []:
            raise absent("LeaveGroupRequest.members", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("LeaveGroupRequest.unknown_tags", version)
