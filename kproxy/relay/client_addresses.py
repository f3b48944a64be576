"""What is kept of client addresses while they have a client here, such as their turns and places.

Handshakes, logins and checks of passwords have a book each. Of IPv6 an address is a /64 subnet.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

from kproxy.protocol.network import network

T = TypeVar("T")


class _Entry(Generic[T]):
    """An address; a client counts as long as its context lasts. All share one, since thousands may wait."""

    __slots__ = ("_addresses", "_kept", "_key", "_users")

    def __init__(self, addresses: dict[str, _Entry[T]], key: str, kept: T) -> None:
        self._addresses = addresses
        self._key = key
        self._kept = kept
        self._users = 0

    def __enter__(self) -> T:
        self._users += 1
        return self._kept

    def __exit__(self, *_: object) -> None:
        self._users -= 1
        if not self._users:
            del self._addresses[self._key]


class ClientAddresses(Generic[T]):
    """All of them. An address is remembered as long as it has a client."""

    def __init__(self, make: Callable[[], T]) -> None:
        """`make` makes what is kept of an address."""
        self._make = make
        self._entries: dict[str, _Entry[T]] = {}

    def __len__(self) -> int:
        """Return how many addresses have a client."""
        return len(self._entries)

    def of(self, host: str) -> AbstractContextManager[T]:
        """Return a context in which a client of this address is here; it yields what is kept of the address."""
        key = network(host)
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = _Entry(self._entries, key, self._make())
        return entry
