"""DeleteGroupsRequest, versions 0 to 3."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class DeleteGroupsRequest(WireMessage):
    api_key: ClassVar[int] = 42
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 3

    groups_names: list[str] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 2
        self = cls()
        self.groups_names = reader.array(lambda: reader.string(flexible), flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 2
        writer.array(self.groups_names, lambda item: writer.string(item, flexible), flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("DeleteGroupsRequest.unknown_tags", version)
