"""ListGroupsRequest, versions 0 to 5."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class ListGroupsRequest(WireMessage):
    api_key: ClassVar[int] = 16
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 5

    states_filter: list[str] = field(default_factory=list)
    types_filter: list[str] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        if version >= 4:
            self.states_filter = reader.array(lambda: reader.string(flexible), flexible)
        if version >= 5:
            self.types_filter = reader.array(lambda: reader.string(flexible), flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        if version >= 4:
            writer.array(self.states_filter, lambda item: writer.string(item, flexible), flexible)
        elif self.states_filter != []:
            raise absent("ListGroupsRequest.states_filter", version)
        if version >= 5:
            writer.array(self.types_filter, lambda item: writer.string(item, flexible), flexible)
        elif self.types_filter != []:
            raise absent("ListGroupsRequest.types_filter", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("ListGroupsRequest.unknown_tags", version)
