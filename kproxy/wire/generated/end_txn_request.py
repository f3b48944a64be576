"""EndTxnRequest, versions 0 to 5."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class EndTxnRequest(WireMessage):
    api_key: ClassVar[int] = 26
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 5

    transactional_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    committed: bool = False
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        self.transactional_id = reader.string(flexible)
        self.producer_id = reader.int64()
        self.producer_epoch = reader.int16()
        self.committed = reader.boolean()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        writer.string(self.transactional_id, flexible)
        writer.int64(self.producer_id)
        writer.int16(self.producer_epoch)
        writer.boolean(self.committed)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("EndTxnRequest.unknown_tags", version)
