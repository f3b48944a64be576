"""Has a failover history, or anything else, keep itself in a store, and waits until it is there."""

from __future__ import annotations

from collections.abc import Callable

import trio

from kproxy.state.kept import Kept
from kproxy.state.store import Store


def kept_in(store: Store, nursery: trio.Nursery) -> Kept:
    """Return who writes to this store, in the nursery."""
    kept = Kept(store)
    nursery.start_soon(kept.run)
    return kept


async def keep(store: Store, work: Callable[[Kept], None]) -> None:
    """Have `work` put its values, and return when they are written."""
    async with trio.open_nursery() as nursery:
        kept = kept_in(store, nursery)
        work(kept)
        await kept.put("last", "of all", b"").wait()
        assert kept.problem() is None
        nursery.cancel_scope.cancel()
