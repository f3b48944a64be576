"""DescribeGroupsRequest, versions 0 to 6."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class DescribeGroupsRequest(WireMessage):
    api_key: ClassVar[int] = 15
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 6

    groups: list[str] = field(default_factory=list)
    include_authorized_operations: bool = False
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 5
        self = cls()
        self.groups = reader.array(lambda: reader.string(flexible), flexible)
        if version >= 3:
            self.include_authorized_operations = reader.boolean()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 5
        writer.array(self.groups, lambda item: writer.string(item, flexible), flexible)
        if version >= 3:
            writer.boolean(self.include_authorized_operations)
        elif self.include_authorized_operations != False:
            raise absent("DescribeGroupsRequest.include_authorized_operations", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("DescribeGroupsRequest.unknown_tags", version)
