"""Scrapes that are large or many, beside a Trio loop that has other work to do."""

from __future__ import annotations

import trio

from tests.unit.admin.memory_view import MemoryView
from tests.unit.admin.raw import Reply, fetch
from tests.unit.observe.everything import many_series


async def test_a_large_scrape_leaves_the_loop_free(view: MemoryView, port: int) -> None:
    """While 18,000 series are rendered (100 ms and more), other tasks run on; inside the loop they would not at all."""
    view.counters = many_series(18_000)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await trio.sleep(0.001)
            ticks += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(tick)
        await fetch(port, "/metrics")  # the first one imports prometheus_client
        ticks = 0
        reply = await fetch(port, "/metrics")
        nursery.cancel_scope.cancel()
    assert len([line for line in reply.body.splitlines() if not line.startswith(b"#")]) >= 18_000
    assert ticks >= 10


async def test_many_scrapes_at_once(view: MemoryView, port: int) -> None:
    """Forty clients at the same moment all get the whole page."""
    view.counters = many_series(1_000)
    found: list[Reply] = []

    async def scrape() -> None:
        found.append(await fetch(port, "/metrics"))

    async with trio.open_nursery() as nursery:
        for _ in range(40):
            nursery.start_soon(scrape)
    assert [reply.status for reply in found] == [200] * 40
    ours = {b"\n".join(line for line in reply.body.splitlines() if b"process_" not in line) for reply in found}
    assert len(ours) == 1


async def test_probes_are_answered_while_scrapes_wait(view: MemoryView, port: int) -> None:
    """A probe does not queue behind the scrapes: it is answered before the last of them."""
    view.counters = many_series(5_000)
    order: list[str] = []

    async def get(target: str) -> None:
        await fetch(port, target)
        order.append(target)

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(get, "/metrics")
        await trio.sleep(0.05)
        nursery.start_soon(get, "/livez")
    assert order.index("/livez") < len(order) - 1
