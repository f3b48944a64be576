"""State that ends with the process: for tests, and where the configuration says all there is."""

from __future__ import annotations

import trio


class MemoryStore:
    """A `Store` that keeps nothing."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, bytes]] = {}

    async def get(self, table: str, key: str) -> bytes | None:
        await trio.lowlevel.checkpoint()
        return self._tables.get(table, {}).get(key)

    async def put(self, table: str, key: str, value: bytes) -> None:
        await trio.lowlevel.checkpoint()
        self._tables.setdefault(table, {})[key] = bytes(value)

    async def delete(self, table: str, key: str) -> None:
        await trio.lowlevel.checkpoint()
        self._tables.get(table, {}).pop(key, None)

    async def items(self, table: str) -> list[tuple[str, bytes]]:
        await trio.lowlevel.checkpoint()
        return sorted(self._tables.get(table, {}).items())
