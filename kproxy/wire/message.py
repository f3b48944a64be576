# This module is pure.
"""What every generated struct and message can do: be read, be written, be decoded whole, be encoded whole."""

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
        """The struct that begins where `reader` stands."""

    @abstractmethod
    def write(self, writer: Writer, version: int) -> None:
        """Append the struct; ValueError for a field that the version cannot carry."""


class WireMessage(WireStruct):
    """A request's or a response's body."""

    __slots__ = ()

    min_version: ClassVar[int]
    max_version: ClassVar[int]

    @classmethod
    def decode(cls, data: Buffer, version: int, *, exact: bool = True) -> Self:
        """Exactly one body. MalformedMessageError for any other bytes, UnsupportedApiError for an unknown version.

        Not `exact`: bytes behind the last field do not matter, as they do not to Kafka's own clients.
        """
        cls._check(version)
        reader = Reader(data)
        try:
            message = cls.read(reader, version)
            if exact:
                reader.finish()
        except (IndexError, struct.error, UnicodeDecodeError) as error:
            raise MalformedMessageError(f"{cls.__name__} v{version}: {error}") from error
        except MalformedMessageError as error:
            raise MalformedMessageError(f"{cls.__name__} v{version}: {error}") from error
        return message

    def encode(self, version: int) -> bytes:
        """The body. ValueError for what the version cannot carry, UnsupportedApiError for an unknown version."""
        self._check(version)
        writer = Writer()
        try:
            self.write(writer, version)
        except struct.error as error:
            raise ValueError(f"{type(self).__name__} v{version}: {error}") from error
        return writer.value()

    @classmethod
    def _check(cls, version: int) -> None:
        if not cls.min_version <= version <= cls.max_version:
            known = f"{cls.min_version}-{cls.max_version}"
            raise UnsupportedApiError(f"{cls.__name__} has versions {known}, not {version}")


def absent(name: str, version: int) -> ValueError:
    """The error for a field that is set, unknown to the version, and not one that Kafka calls ignorable."""
    return ValueError(f"{name} is set, but version {version} has no such field")
