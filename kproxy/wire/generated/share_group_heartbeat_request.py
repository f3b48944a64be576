"""ShareGroupHeartbeatRequest, versions 1 to 1."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0; not to be edited.

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class ShareGroupHeartbeatRequest(WireMessage):
    api_key: ClassVar[int] = 76
    min_version: ClassVar[int] = 1
    max_version: ClassVar[int] = 1

    group_id: str = ""
    member_id: str = ""
    member_epoch: int = 0
    rack_id: str | None = None
    subscribed_topic_names: list[str] | None = None
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.group_id = reader.string(True)
        self.member_id = reader.string(True)
        self.member_epoch = reader.int32()
        self.rack_id = reader.nullable_string(True)
        self.subscribed_topic_names = reader.nullable_array(lambda: reader.string(True), True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.group_id, True)
        writer.string(self.member_id, True)
        writer.int32(self.member_epoch)
        writer.nullable_string(self.rack_id, True)
        writer.nullable_array(self.subscribed_topic_names, lambda item: writer.string(item, True), True)
        writer.tagged_fields(self.unknown_tags)
