"""The interface of a store, and the store in memory.

Virtual clusters read their state when kproxy starts, and store each change: the active upstream, the failover history
and the subscriptions of client telemetry.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Protocol

from kproxy.errors import KproxyError


class StateError(KproxyError):
    """State cannot be read or kept: where, why, and what to do, fit for one line."""


class StateLockedError(StateError):
    """Another process has locked the state; it may be about to end."""


class Store(Protocol):
    """Tables of bytes by key; a table exists once it has a key. Every method raises StateError, and no other error.

    Calls take effect in the order in which they are made, so each sees those before it. A call that is cancelled while
    it waits for its answer still takes effect.
    """

    async def get(self, table: str, key: str) -> bytes | None:
        """Return the value, or None."""

    async def put(self, table: str, key: str, value: bytes) -> None:
        """Add or replace a value; it is kept on return."""

    async def delete(self, table: str, key: str) -> None:
        """Remove the key if it exists; the removal is kept on return."""

    async def items(self, table: str) -> Sequence[tuple[str, bytes]]:
        """Return all keys and values of a table that fits into memory, in the order of the keys' code points."""

    async def close(self) -> None:
        """Keep what was accepted and release the state; later calls, but not later closes, raise StateError."""


def check_text(*names: str) -> None:
    """Raise StateError for a table or a key without a UTF-8 form: only some stores could keep a lone surrogate."""
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise StateError(f"{name!r} cannot be the name of state: it has no UTF-8 form; choose another") from None


class MemoryStore:
    """A `Store` that lasts as long as the process."""

    def __init__(self) -> None:
        self._tables: defaultdict[str, dict[str, bytes]] = defaultdict(dict)
        self._closed = False

    async def get(self, table: str, key: str) -> bytes | None:
        """Return the value, or None."""
        return self._table(table, key).get(key)

    async def put(self, table: str, key: str, value: bytes) -> None:
        """Add or replace a value."""
        self._table(table, key)[key] = bytes(value)

    async def delete(self, table: str, key: str) -> None:
        """Remove the key if it exists."""
        self._table(table, key).pop(key, None)

    async def items(self, table: str) -> Sequence[tuple[str, bytes]]:
        """Return all keys and values of a table, in the order of the keys."""
        return sorted(self._table(table).items())

    async def close(self) -> None:
        """Forget everything."""
        self._closed = True
        self._tables.clear()

    def _table(self, table: str, *keys: str) -> dict[str, bytes]:
        if self._closed:
            raise StateError("the state in memory is closed")
        check_text(table, *keys)
        return self._tables[table]
