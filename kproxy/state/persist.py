"""Writes to the state store that nobody waits for: one that fails is told, and ends nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from kproxy.state.interface import StateError

if TYPE_CHECKING:
    from kproxy.state.interface import Store

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
