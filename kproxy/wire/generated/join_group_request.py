"""JoinGroupRequest, versions 0 to 9."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class JoinGroupRequestProtocol(WireStruct):
    name: str = ""
    metadata: bytes = b""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 6
        self = cls()
        self.name = reader.string(flexible)
        self.metadata = reader.blob(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 6
        writer.string(self.name, flexible)
        writer.blob(self.metadata, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("JoinGroupRequestProtocol.unknown_tags", version)


@dataclass(slots=True)
class JoinGroupRequest(WireMessage):
    api_key: ClassVar[int] = 11
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 9

    group_id: str = ""
    session_timeout_ms: int = 0
    rebalance_timeout_ms: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
    protocol_type: str = ""
    protocols: list[JoinGroupRequestProtocol] = field(default_factory=list)
    reason: str | None = None
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 6
        self = cls()
        self.group_id = reader.string(flexible)
        self.session_timeout_ms = reader.int32()
        if version >= 1:
            self.rebalance_timeout_ms = reader.int32()
        self.member_id = reader.string(flexible)
        if version >= 5:
            self.group_instance_id = reader.nullable_string(flexible)
        self.protocol_type = reader.string(flexible)
        self.protocols = reader.structs(JoinGroupRequestProtocol, version, flexible)
        if version >= 8:
            self.reason = reader.nullable_string(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 6
        writer.string(self.group_id, flexible)
        writer.int32(self.session_timeout_ms)
        if version >= 1:
            writer.int32(self.rebalance_timeout_ms)
        writer.string(self.member_id, flexible)
        if version >= 5:
            writer.nullable_string(self.group_instance_id, flexible)
        elif self.group_instance_id is not None:
            raise absent("JoinGroupRequest.group_instance_id", version)
        writer.string(self.protocol_type, flexible)
        writer.structs(self.protocols, version, flexible)
        if version >= 8:
            writer.nullable_string(self.reason, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("JoinGroupRequest.unknown_tags", version)
