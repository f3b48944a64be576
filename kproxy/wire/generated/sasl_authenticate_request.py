"""SaslAuthenticateRequest, versions 0 to 2."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class SaslAuthenticateRequest(WireMessage):
    api_key: ClassVar[int] = 36
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 2

    auth_bytes: bytes = b""
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 2
        self = cls()
        self.auth_bytes = reader.blob(flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 2
        writer.blob(self.auth_bytes, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("SaslAuthenticateRequest.unknown_tags", version)
