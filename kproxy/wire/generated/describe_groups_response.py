"""DescribeGroupsResponse, versions 0 to 6."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class DescribedGroupMember(WireStruct):
    member_id: str = ""
    group_instance_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    member_metadata: bytes = b""
    member_assignment: bytes = b""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 5
        self = cls()
        self.member_id = reader.string(flexible)
        if version >= 4:
            self.group_instance_id = reader.nullable_string(flexible)
        self.client_id = reader.string(flexible)
        self.client_host = reader.string(flexible)
        self.member_metadata = reader.blob(flexible)
        self.member_assignment = reader.blob(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 5
        writer.string(self.member_id, flexible)
        if version >= 4:
            writer.nullable_string(self.group_instance_id, flexible)
        writer.string(self.client_id, flexible)
        writer.string(self.client_host, flexible)
        writer.blob(self.member_metadata, flexible)
        writer.blob(self.member_assignment, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("DescribedGroupMember.unknown_tags", version)


@dataclass(slots=True)
class DescribedGroup(WireStruct):
    error_code: int = 0
    error_message: str | None = None
    group_id: str = ""
    group_state: str = ""
    protocol_type: str = ""
    protocol_data: str = ""
    members: list[DescribedGroupMember] = field(default_factory=list)
    authorized_operations: int = -2147483648
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 5
        self = cls()
        self.error_code = reader.int16()
        if version >= 6:
            self.error_message = reader.nullable_string(flexible)
        self.group_id = reader.string(flexible)
        self.group_state = reader.string(flexible)
        self.protocol_type = reader.string(flexible)
        self.protocol_data = reader.string(flexible)
        self.members = reader.structs(DescribedGroupMember, version, flexible)
        if version >= 3:
            self.authorized_operations = reader.int32()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 5
        writer.int16(self.error_code)
        if version >= 6:
            writer.nullable_string(self.error_message, flexible)
        elif self.error_message is not None:
            raise absent("DescribedGroup.error_message", version)
        writer.string(self.group_id, flexible)
        writer.string(self.group_state, flexible)
        writer.string(self.protocol_type, flexible)
        writer.string(self.protocol_data, flexible)
        writer.structs(self.members, version, flexible)
        if version >= 3:
            writer.int32(self.authorized_operations)
        elif self.authorized_operations != -2147483648:
            raise absent("DescribedGroup.authorized_operations", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("DescribedGroup.unknown_tags", version)


@dataclass(slots=True)
class DescribeGroupsResponse(WireMessage):
    api_key: ClassVar[int] = 15
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 6

    throttle_time_ms: int = 0
    groups: list[DescribedGroup] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 5
        self = cls()
        if version >= 1:
            self.throttle_time_ms = reader.int32()
        self.groups = reader.structs(DescribedGroup, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 5
        if version >= 1:
            writer.int32(self.throttle_time_ms)
        writer.structs(self.groups, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("DescribeGroupsResponse.unknown_tags", version)
