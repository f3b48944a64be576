"""ListConfigResourcesRequest, versions 0 to 1."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class ListConfigResourcesRequest(WireMessage):
    api_key: ClassVar[int] = 74
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 1

    resource_types: list[int] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        if version >= 1:
            self.resource_types = reader.array(reader.int8, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        if version >= 1:
            writer.array(self.resource_types, writer.int8, True)
        elif self.resource_types != []:
            raise absent("ListConfigResourcesRequest.resource_types", version)
        writer.tagged_fields(self.unknown_tags)
