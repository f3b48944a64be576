"""SaslHandshakeResponse, versions 0 to 1."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class SaslHandshakeResponse(WireMessage):
    api_key: ClassVar[int] = 17
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 1

    error_code: int = 0
    mechanisms: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.error_code = reader.int16()
        self.mechanisms = reader.array(lambda: reader.string(False), False)
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int16(self.error_code)
        writer.array(self.mechanisms, lambda item: writer.string(item, False), False)
