"""Reads state back: a value that its reader cannot use is logged, moved aside and skipped, and kproxy starts.

Virtual clusters call `restored` when kproxy starts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

import structlog

from kproxy.state.store import StateError

if TYPE_CHECKING:
    from kproxy.state.store import Store

T = TypeVar("T")

ASIDE: Final = "unreadable/"
"""Begins the names of the tables of values that could not be read. kproxy never reads or deletes these."""

log = structlog.get_logger("kproxy.state")


async def restored(store: Store, table: str, read: Callable[[str, bytes], T]) -> Mapping[str, T]:
    """Return what `read` makes of each key and value of a table, without those for which it raises.

    Raises `StateError` when the table itself cannot be read.
    """
    found: dict[str, T] = {}
    for key, value in await store.items(table):
        if (made := await restored_value(store, table, key, value, read)) is not None:
            found[key] = made
    return found


async def restored_value(
    store: Store, table: str, key: str, value: bytes | None, read: Callable[[str, bytes], T]
) -> T | None:
    """Return what `read` makes of one value; None when there is no value, or when it raises."""
    if value is None:
        return None
    try:
        key.encode()  # a file that kproxy did not write may have any key
        return read(key, value)
    except Exception as error:  # whatever is wrong with it, it must not keep kproxy from starting
        why = f"{type(error).__name__}: {error}"
    log.error("state cannot be read; it is moved aside and skipped", table=table, key=key, to=ASIDE + table, error=why)
    await _move_aside(store, table, key, value)
    return None


async def _move_aside(store: Store, table: str, key: str, value: bytes) -> None:
    """Move a value to a key that is free; one that cannot be moved stays where it is."""
    try:
        free, number = key, 1
        while await store.get(ASIDE + table, free) not in (None, value):
            number += 1
            free = f"{key} ({number})"
        await store.put(ASIDE + table, free, value)
        await store.delete(table, key)
    except StateError as error:
        log.error("state was not moved aside", table=table, key=key, reason=str(error))
