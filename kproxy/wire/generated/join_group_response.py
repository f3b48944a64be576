"""JoinGroupResponse, versions 0 to 9."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer, not_null


@dataclass(slots=True)
class JoinGroupResponseMember(WireStruct):
    member_id: str = ""
    group_instance_id: str | None = None
    metadata: bytes = b""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 6
        self = cls()
        self.member_id = reader.string(flexible)
        if version >= 5:
            self.group_instance_id = reader.nullable_string(flexible)
        self.metadata = reader.blob(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 6
        writer.string(self.member_id, flexible)
        if version >= 5:
            writer.nullable_string(self.group_instance_id, flexible)
        writer.blob(self.metadata, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("JoinGroupResponseMember.unknown_tags", version)


@dataclass(slots=True)
class JoinGroupResponse(WireMessage):
    api_key: ClassVar[int] = 11
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 9

    throttle_time_ms: int = 0
    error_code: int = 0
    generation_id: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = ""
    leader: str = ""
    skip_assignment: bool = False
    member_id: str = ""
    members: list[JoinGroupResponseMember] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 6
        self = cls()
        if version >= 2:
            self.throttle_time_ms = reader.int32()
        self.error_code = reader.int16()
        self.generation_id = reader.int32()
        if version >= 7:
            self.protocol_type = reader.nullable_string(flexible)
        self.protocol_name = reader.nullable_string(flexible) if version >= 7 else reader.string(flexible)
        self.leader = reader.string(flexible)
        if version >= 9:
            self.skip_assignment = reader.boolean()
        self.member_id = reader.string(flexible)
        self.members = reader.structs(JoinGroupResponseMember, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 6
        if version >= 2:
            writer.int32(self.throttle_time_ms)
        writer.int16(self.error_code)
        writer.int32(self.generation_id)
        if version >= 7:
            writer.nullable_string(self.protocol_type, flexible)
        writer.nullable_string(self.protocol_name, flexible) if version >= 7 else writer.string(not_null(self.protocol_name, "JoinGroupResponse.protocol_name", version), flexible)
        writer.string(self.leader, flexible)
        if version >= 9:
            writer.boolean(self.skip_assignment)
        elif self.skip_assignment != False:
            raise absent("JoinGroupResponse.skip_assignment", version)
        writer.string(self.member_id, flexible)
        writer.structs(self.members, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("JoinGroupResponse.unknown_tags", version)
