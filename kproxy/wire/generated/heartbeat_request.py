"""HeartbeatRequest, versions 0 to 4."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class HeartbeatRequest(WireMessage):
    api_key: ClassVar[int] = 12
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 4

    group_id: str = ""
    generation_id: int = 0
    member_id: str = ""
    group_instance_id: str | None = None
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
            raise absent("HeartbeatRequest.group_instance_id", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("HeartbeatRequest.unknown_tags", version)
