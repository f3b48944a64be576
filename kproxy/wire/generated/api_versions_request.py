"""ApiVersionsRequest, versions 0 to 5."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class ApiVersionsRequest(WireMessage):
    api_key: ClassVar[int] = 18
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 5

    client_software_name: str = ""
    client_software_version: str = ""
    cluster_id: str | None = None
    node_id: int = -1
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        if version >= 3:
            self.client_software_name = reader.string(flexible)
        if version >= 3:
            self.client_software_version = reader.string(flexible)
        if version >= 5:
            self.cluster_id = reader.nullable_string(flexible)
        if version >= 5:
            self.node_id = reader.int32()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        if version >= 3:
            writer.string(self.client_software_name, flexible)
        if version >= 3:
            writer.string(self.client_software_version, flexible)
        if version >= 5:
            writer.nullable_string(self.cluster_id, flexible)
        if version >= 5:
            writer.int32(self.node_id)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("ApiVersionsRequest.unknown_tags", version)
