"""What must survive a restart, by table and key: the interface, a store in memory, writes that nobody waits for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Protocol

import structlog

from kproxy.errors import KproxyError


class StateError(KproxyError):
    """State that cannot be read or kept: where, why, and what to do, fit for one line."""


class StateLockedError(StateError):
    """Another process has the state; it may be about to end."""


class Store(Protocol):
    """Tables of bytes by key; a table is there once it has a key. Every method raises StateError, and no other error.

    Calls are done in the order in which they were made, so each sees those before it. A call that is cancelled while
    it waits for its answer is done all the same.
    """

    async def get(self, table: str, key: str) -> bytes | None:
        """The value, or None."""

    async def put(self, table: str, key: str, value: bytes) -> None:
        """Adds or replaces; when it returns, the value is kept."""

    async def delete(self, table: str, key: str) -> None:
        """Takes the key away, if it is there; when it returns, it stays away."""

    async def items(self, table: str) -> Sequence[tuple[str, bytes]]:
        """All keys and values of a table, in the order of the keys' code points; for tables that fit into memory."""

    async def close(self) -> None:
        """Keeps what was accepted and lets go of the state; later calls, but not later closes, raise StateError."""


def check_text(*names: str) -> None:
    """StateError for a table or a key that has no UTF-8 form: a lone surrogate could be kept by some stores only."""
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
        """The value, or None."""
        return self._table(table, key).get(key)

    async def put(self, table: str, key: str, value: bytes) -> None:
        """Adds or replaces."""
        self._table(table, key)[key] = bytes(value)

    async def delete(self, table: str, key: str) -> None:
        """Takes the key away, if it is there."""
        self._table(table, key).pop(key, None)

    async def items(self, table: str) -> Sequence[tuple[str, bytes]]:
        """All keys and values of a table, in the order of the keys."""
        return sorted(self._table(table).items())

    async def close(self) -> None:
        """Forgets."""
        self._closed = True
        self._tables.clear()

    def _table(self, table: str, *keys: str) -> dict[str, bytes]:
        if self._closed:
            raise StateError("the state in memory is closed")
        check_text(table, *keys)
        return self._tables[table]


log = structlog.get_logger("kproxy.state")


async def keep(store: Store, table: str, key: str, value: bytes | None) -> None:
    """Keep a value, None to forget it; a restart will not know of what could not be written."""
    try:
        if value is None:
            await store.delete(table, key)
        else:
            await store.put(table, key, value)
    except StateError as error:
        log.error("not kept: a restart will not know of it", table=table, key=key, reason=str(error))
