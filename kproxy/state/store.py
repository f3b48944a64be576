"""What a store is. Its users know no file and no database: app hands them one."""

from __future__ import annotations

from typing import Protocol

from kproxy.errors import ErrorClass, KproxyError


class StateError(KproxyError):
    """State that cannot be read or kept: where, why, what to do. What was asked for has not happened."""

    error_class = ErrorClass.INVALID_CONFIGURATION


class Store(Protocol):
    """Tables of values by key; a table is there when something is in it.

    Each call takes effect whole or not at all, in the order of the calls. A write is kept, whatever becomes of the
    process, when it returns; one whose caller is cancelled meanwhile may be kept or not. Each raises StateError.
    """

    async def get(self, table: str, key: str) -> bytes | None:
        """The value; None when there is none."""

    async def put(self, table: str, key: str, value: bytes) -> None:
        """Keeps a value, in the place of the one before."""

    async def delete(self, table: str, key: str) -> None:
        """Forgets a value; nothing happens when there is none."""

    async def items(self, table: str) -> list[tuple[str, bytes]]:
        """All keys and values, in the order of the keys' UTF-8."""
