"""Which upstream an automatic failover takes, when clusters do not answer or have nodes without a port."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.unit.app.living import HOST, METADATA, brokers, living
from tests.unit.cluster.test_epochs import Two, described
from tests.unit.cluster.test_unmapped import NOT_IN_RANGES, offset
from tests.unit.relay.sockets import eventually
from tests.unit.upstream.scripted_broker import ScriptedBroker, closing

AWAY = {"automatic": True, "after": "500ms", "floor": "60s"}


def events(process: Two, event: str) -> list[dict[str, Any]]:
    """Return the fields of all log lines with that text."""
    return [one.event.log_fields() for one in process.cluster.events.kept if one.event.log == event]


@asynccontextmanager
async def three(b_nodes: tuple[int, ...], c_nodes: tuple[int, ...]) -> AsyncIterator[tuple[Two, ScriptedBroker]]:
    """As `two`, with a third upstream cluster `c`, and automatic failover."""
    async with brokers((1,), b_nodes, c_nodes) as (a, b, c):
        a.answer.cluster_id, b.answer.cluster_id, c.answer.cluster_id = "A", "B", "C"
        servers = [
            {"name": n, "bootstrap_servers": f"{HOST}:{one.port}"} for n, one in zip("abc", (a, b, c), strict=True)
        ]
        async with living(described(a, b, cluster=offset("1-3") | {"upstreams": servers, "failover": AWAY})) as alive:
            await alive.until_state("ready")
            yield Two(alive, a, b), c


async def test_an_automatic_failover_passes_over_a_cluster_with_a_node_without_a_port() -> None:
    """It takes the next cluster, and an event says why it did not take this one."""
    async with three((7,), (3,)) as (process, _):
        process.a.script[METADATA] = closing
        await process.a.drop()
        await eventually(lambda: process.cluster.upstreams.active.name == "c", "the failover", 20)
        assert events(process, "an upstream cluster is passed over") == [{"to": "b", "why": NOT_IN_RANGES.format(7)}]


async def test_no_automatic_failover_while_no_cluster_has_ports() -> None:
    """Each cluster gives one event for each outage, not for each attempt; the next outage gives another."""
    async with three((7,), (8,)) as (process, c):
        for outage in (1, 2):
            process.a.script[METADATA] = closing
            await process.a.drop()
            c.seen.clear()
            await eventually(lambda: c.requests(METADATA) > 2, "several attempts", 20)
            passed = [fields["to"] for fields in events(process, "an upstream cluster is passed over")]
            assert passed == ["b", "c"] * outage
            del process.a.script[METADATA]
            await eventually(lambda: process.cluster.upstreams.watcher.reachable is True, "the active one is back", 20)
            await eventually(lambda: not process.cluster.failover_controller._reported, "the outage is over")
        assert not events(process, "no upstream cluster answers")
        assert (process.cluster.upstreams.active.name, process.cluster.epoch) == ("a", 0)


async def test_no_upstream_answers() -> None:
    """Each outage gives one event; the first cluster that answers takes over."""
    async with three((2,), (3,)) as (process, c):
        for broker in (process.a, process.b, c):
            broker.script[METADATA] = closing
            await broker.drop()
        await eventually(lambda: c.requests(METADATA) > 2, "several attempts", 20)
        assert events(process, "no upstream cluster answers") == [{"active": "a"}]
        del c.script[METADATA]
        await eventually(lambda: process.cluster.upstreams.active.name == "c", "the failover", 20)
