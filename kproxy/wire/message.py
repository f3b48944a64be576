# This module is pure (no I/O, no clock).
"""The base classes of generated structs and messages, which decode and encode the bodies of requests and responses.

Rooms (packages of kproxy such as telemetry) use them for the few messages that they read or answer, and kproxy.upstream
for requests of kproxy's own. All other messages pass without them.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from typing import ClassVar, Self

from kproxy.errors import MalformedMessageError, UnsupportedApiError
from kproxy.wire.primitives import Buffer
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


class WireStruct(ABC):
    """A struct within a message."""

    __slots__ = ()

    @classmethod
    @abstractmethod
    def read(cls, reader: Reader, version: int) -> Self:
        """Return the struct that begins at the reader's position."""

    @abstractmethod
    def write(self, writer: Writer, version: int) -> None:
        """Append the struct; ValueError for a field that the version does not have."""

    def written(self, version: int) -> bytes:
        """Return the struct's bytes; raises as `write`, and `struct.error` for a number that does not fit."""
        writer = Writer()
        self.write(writer, version)
        return writer.value()


class WireMessage(WireStruct):
    """The body of a request or of a response."""

    __slots__ = ()

    min_version: ClassVar[int]
    max_version: ClassVar[int]

    @classmethod
    def decode(cls, data: Buffer, version: int) -> Self:
        """Decode one body. MalformedMessageError for any other bytes, UnsupportedApiError for an unknown version.

        Bytes behind the last field are ignored, as brokers and clients do: librdkafka 0.11 sends four with ApiVersions.
        """
        cls._check(version)
        reader = Reader(data)
        try:
            return cls.read(reader, version)
        except (IndexError, struct.error, UnicodeDecodeError) as error:
            raise MalformedMessageError(f"{cls.__name__} v{version}: {error}") from error
        except MalformedMessageError as error:
            raise MalformedMessageError(f"{cls.__name__} v{version}: {error}") from error

    def encode(self, version: int) -> bytes:
        """Return the body. ValueError for what the version cannot hold, UnsupportedApiError for an unknown version."""
        self._check(version)
        try:
            return self.written(version)
        except struct.error as error:
            raise ValueError(f"{type(self).__name__} v{version}: {error}") from error

    @classmethod
    def _check(cls, version: int) -> None:
        if not cls.min_version <= version <= cls.max_version:
            known = f"{cls.min_version}-{cls.max_version}"
            raise UnsupportedApiError(f"{cls.__name__} has versions {known}, not {version}")


def absent(name: str, version: int) -> ValueError:
    """Return the error for a field that is set although the version lacks it, unless Kafka calls it ignorable."""
    return ValueError(f"{name} is set, but version {version} has no such field")
