"""How often clients were moved, and where to: counted, and kept across a restart."""

from __future__ import annotations

import trio

from kproxy.app.stays import STAYS, Stays
from kproxy.relay.producer_ids import ProducerIds
from kproxy.state.interface import Store
from kproxy.state.memory import MemoryStore


async def moved(stays: Stays, store: Store, *upstreams: str) -> ProducerIds:
    """What ids are like after moves to these, each of which is kept."""
    for upstream in upstreams:
        async with trio.open_nursery() as work:
            stays.move(upstream, store, work)
    return stays.producer_ids


async def remembered(store: Store, upstream: str) -> ProducerIds:
    """After a restart with this active upstream."""
    stays = Stays("orders", "first")
    await stays.remember(store, upstream)
    return stays.producer_ids


async def test_moves_are_counted_and_returns_known() -> None:
    """Also to an upstream of the same name, which a DNS name may be that leads to another cluster."""
    store, stays = MemoryStore(), Stays("orders", "east")
    assert stays.producer_ids == ProducerIds("east", 0, returned=False)
    assert await moved(stays, store, "west") == ProducerIds("west", 1, returned=False)
    assert await moved(stays, store, "east") == ProducerIds("east", 2, returned=True)
    assert await moved(stays, store, "south") == ProducerIds("south", 3, returned=False)
    assert await moved(stays, store, "south") == ProducerIds("south", 4, returned=True)


async def test_a_restart_goes_on() -> None:
    """In the same stay; each virtual cluster for itself."""
    store = MemoryStore()
    before = await moved(Stays("orders", "east"), store, "west", "east")
    await moved(Stays("others", "east"), store, "west")
    assert await remembered(store, "east") == before == ProducerIds("east", 2, returned=True)


async def test_a_restart_at_another_upstream_is_a_move() -> None:
    """The configuration may have changed meanwhile."""
    store = MemoryStore()
    await moved(Stays("orders", "east"), store, "west")
    assert await remembered(store, "east") == ProducerIds("east", 2, returned=True)
    assert await remembered(store, "north") == ProducerIds("north", 2, returned=False)


async def test_a_first_start() -> None:
    """Nothing is kept; the active upstream may be another than the first of the configuration."""
    assert await remembered(MemoryStore(), "west") == ProducerIds("west", 0, returned=False)


async def test_what_another_version_has_kept_is_no_reason_not_to_start() -> None:
    """It counts anew."""
    store = MemoryStore()
    for kept in (b"?", b"[]", b'{"moves": "many"}'):
        await store.put(STAYS, "orders", kept)
        assert await remembered(store, "west") == ProducerIds("west", 0, returned=False)
