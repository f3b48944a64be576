"""The store that forgets: for a proxy whose subscriptions all stand in its configuration, and for tests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from kproxy.state.interface import StateError, check_text


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
