"""FindCoordinatorRequest, versions 0 to 6."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class FindCoordinatorRequest(WireMessage):
    api_key: ClassVar[int] = 10
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 6

    key: str = ""
    key_type: int = 0
    coordinator_keys: list[str] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        if version <= 3:
            self.key = reader.string(flexible)
        if version >= 1:
            self.key_type = reader.int8()
        if version >= 4:
            self.coordinator_keys = reader.array(lambda: reader.string(flexible), flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        if version <= 3:
            writer.string(self.key, flexible)
        elif self.key != "":
            raise absent("FindCoordinatorRequest.key", version)
        if version >= 1:
            writer.int8(self.key_type)
        elif self.key_type != 0:
            raise absent("FindCoordinatorRequest.key_type", version)
        if version >= 4:
            writer.array(self.coordinator_keys, lambda item: writer.string(item, flexible), flexible)
        elif self.coordinator_keys != []:
            raise absent("FindCoordinatorRequest.coordinator_keys", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("FindCoordinatorRequest.unknown_tags", version)
