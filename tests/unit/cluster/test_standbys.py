"""Upstreams that are not active are looked at all the time; what is wrong there is told before they are needed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import trio

from kproxy.app.reload import apply
from kproxy.config import Config
from kproxy.observe.events import StandbyReplaced
from kproxy.topology.standing import Look
from tests.unit.app.living import HOST, METADATA, brokers, living
from tests.unit.cluster.test_epochs import Two, described
from tests.unit.relay.sockets import eventually, stays
from tests.unit.upstream.scripted_broker import ScriptedBroker, closing, silent

OFTEN = {"standby_interval": "100ms"}


def servers(**upstreams: ScriptedBroker) -> list[dict[str, str]]:
    """Return the setting `upstreams`."""
    return [{"name": name, "bootstrap_servers": f"{HOST}:{one.port}"} for name, one in upstreams.items()]


def settings(process: Two, failover: dict[str, Any], **upstreams: ScriptedBroker) -> Config:
    """Return a configuration to reload."""
    cluster = {"failover": failover, "upstreams": servers(**upstreams)}
    return described(process.a, process.b, cluster=cluster, admin=process.alive.listens)


@asynccontextmanager
async def watched(*third: int, **failover: Any) -> AsyncIterator[tuple[Two, ScriptedBroker]]:
    """As `two`, with often looks at the standby `b`, and a further broker, which is nobody's yet."""
    async with brokers((1, 2), (11, 12), third or (21,)) as (a, b, c):
        a.answer.cluster_id, b.answer.cluster_id, c.answer.cluster_id = "A", "B", "C"
        async with living(described(a, b, cluster={"failover": OFTEN | failover})) as alive:
            await alive.until_state("ready")
            process = Two(alive, a, b)
            await eventually(lambda: standing(process, "b").answers, "the first look at the standby")
            yield process, c


def standing(process: Two, name: str) -> Any:
    """What is known of an upstream."""
    return process.cluster.upstreams.all[name].standing


async def warnings(process: Two) -> list[str]:
    """Return what /readyz warns of; the state must be ready, also by the strict form."""
    said = await process.alive.get("/readyz?strict")
    assert (said["state"], said["reasons"]) == ("ready", [])
    return [warning["reason"] for warning in said.get("warnings", ())]


async def warned(process: Two, *parts: str) -> None:
    """Wait until there is one warning for each part, in order, that contains it."""
    found: list[str] = []
    with trio.move_on_after(10):
        while True:
            found = await warnings(process)
            if len(found) == len(parts) and all(part in one for part, one in zip(parts, found, strict=True)):
                return
            await trio.sleep(0.02)
    raise AssertionError(f"not warned of {parts}: {found}")


async def shown(process: Two, name: str) -> dict[str, Any]:
    """Return an upstream as the API shows it."""
    upstreams: list[dict[str, Any]] = (await process.alive.get("/api/v1/clusters/c"))["upstreams"]
    return next(one for one in upstreams if one["name"] == name)


async def series(process: Two, upstream: str) -> dict[str, float]:
    """Return the metrics of an upstream cluster by the ends of their names."""
    lines = (await process.alive.text("/metrics")).splitlines()
    head, label = "kproxy_upstream_cluster_", f'{{cluster="c",upstream="{upstream}"}}'
    parted = (line.removeprefix(head).split(label) for line in lines if line.startswith(head) and label in line)
    return {name: float(value) for name, value in parted}


def tasks(nursery: trio.Nursery) -> Iterator[trio.lowlevel.Task]:
    """Yield the tasks in a nursery and below."""
    for task in nursery.child_tasks:
        yield task
        for below in task.child_nurseries:
            yield from tasks(below)


def watchers(process: Two) -> int:
    """Return how many watchers run for the virtual cluster."""
    return sum(task.name.endswith("Upstream._run") for task in tasks(process.cluster._work))


def replaced(process: Two) -> list[Any]:
    """Return the events that tell of another cluster behind a standby."""
    return [one.event for one in process.cluster.events.kept if isinstance(one.event, StandbyReplaced)]


async def test_a_standby_is_known_while_all_is_well() -> None:
    """Its id, nodes and last answer, as the active one's; no warning, and no client is led to it."""
    async with watched() as (process, _):
        await eventually(lambda: len(process.cluster.upstreams.all["b"].watcher.nodes) == 2, "its nodes are probed")
        assert await warnings(process) == []
        one = await shown(process, "b")
        assert (one["active"], one["reachable"], one["error"], one["cluster_id"]) == (False, True, None, "B")
        address = f"{HOST}:{process.b.port}"
        assert one["nodes"] == [{"node_id": id_, "upstream": address, "reachable": True} for id_ in (11, 12)]
        assert (one["unmapped"], one["fit"], one["warnings"]) == ([], True, [])
        assert one["since"] <= one["last_answer"]
        found = await series(process, "b")
        assert found.pop("last_answer_timestamp_seconds") > 1_700_000_000
        well = {"reachable": 1, "nodes": 2, "nodes_unreachable": 0, "nodes_without_port": 0}
        assert found == well | {"fit": 1}
        found = await series(process, "a")
        assert found.pop("last_answer_timestamp_seconds") > 1_700_000_000
        assert found == well
        assert set(process.cluster.nodes.addresses.nodes) == {1, 2}
        assert set(process.cluster.counters.nodes) == {1, 2}


async def test_a_standby_that_goes_and_comes_back() -> None:
    """The pod stays in service, also by the strict form, and is warned about; API and metrics say the same."""
    async with watched() as (process, _):
        process.b.script[METADATA] = closing
        await process.b.drop()
        await warned(process, "the standby b: it does not answer: ")
        one, found = await shown(process, "b"), await series(process, "b")
        assert (one["reachable"], one["fit"], one["cluster_id"]) == (False, False, "B")
        assert one["warnings"] == [f"it does not answer: {one['error']}"]
        assert (found["reachable"], found["fit"], found["nodes"]) == (0, 0, 2)
        del process.b.script[METADATA]
        await warned(process)
        assert (await series(process, "b"))["reachable"] == (await series(process, "b"))["fit"] == 1


async def test_after_a_switch_the_other_one_is_the_standby() -> None:
    """Each upstream has one watcher, however often clients are switched; the one that was left is seen to go."""
    async with watched() as (process, _):
        assert watchers(process) == 2
        for to in ("b", "a", "b"):
            await trio.sleep(process.cluster.rebootstrap.wait(trio.current_time()))
            assert (await process.post("failover", {"to": to}))[0] == 200
            await eventually(lambda: watchers(process) == 2, "two watchers")
        assert await warnings(process) == []
        nodes = process.cluster.counters.nodes
        await eventually(lambda: nodes.keys() >= {11, 12} and nodes[11].reachable is True, "nodes are probed")
        assert (nodes[1].reachable, nodes[2].reachable) == (None, None)
        process.a.script[METADATA] = closing
        await process.a.drop()
        await warned(process, "the standby a: it does not answer")


async def test_a_reload_changes_who_stands_by() -> None:
    """A new upstream is looked at from then on; one that is gone is not, and its series end; the interval counts."""
    async with watched() as (process, c):
        await apply(process.alive.process, settings(process, OFTEN, a=process.a, c=c))
        await eventually(lambda: standing(process, "c").answers, "a look at the new one")
        await eventually(lambda: watchers(process) == 2, "two watchers")
        await eventually(lambda: not process.b.open, "the old one's connections are closed")
        looks = process.b.accepted
        await stays(lambda: process.b.accepted == looks, "nobody asks the old one", 1.5)
        assert await series(process, "b") == {}
        assert 'kproxy_upstream_active{cluster="c",upstream="b"}' not in await process.alive.text("/metrics")
        assert (await series(process, "c"))["fit"] == 1
        rarely = settings(process, {"standby_interval": "1h"}, a=process.a, c=c)
        await apply(process.alive.process, rarely)
        assert process.cluster.upstreams.all["c"].watcher.interval == 3600
        await eventually(lambda: c.requests(METADATA) >= 2, "the look that was due")
        await trio.sleep(process.cluster.rebootstrap.wait(trio.current_time()))
        looks = c.requests(METADATA)
        await apply(process.alive.process, settings(process, OFTEN, a=process.a, c=c))
        await eventually(lambda: c.requests(METADATA) > looks, "the shorter interval counts at once")


async def test_a_reload_without_the_active_upstream() -> None:
    """Another one becomes active; only those that the settings name are watched."""
    async with watched() as (process, c):
        await apply(process.alive.process, settings(process, OFTEN, b=process.b, c=c))
        assert process.cluster.upstreams.active.name == "b"
        await eventually(lambda: watchers(process) == 2, "two watchers")
        await eventually(lambda: standing(process, "c").answers, "a look at the new standby")
        await eventually(lambda: not process.a.open, "the old one's connections are closed")


async def test_the_active_cluster_by_another_name() -> None:
    """It is warned of before somebody relies on it: a failover there would leave clients where they are."""
    async with watched() as (process, _):
        process.b.answer.cluster_id = "A"
        same = "the standby b: it is the active Kafka cluster itself, by its id A"
        await warned(process, "the standby b: its cluster id has changed from B to A", same)


async def test_another_cluster_behind_a_standby() -> None:
    """It is warned of at once, and reported once, when it stays."""
    async with watched() as (process, _):
        process.b.answer.cluster_id = "X"
        await warned(process, "the standby b: its cluster id has changed from B to X")
        told = [StandbyReplaced("a", "b", "X", "B")]
        await eventually(lambda: replaced(process) == told, "the event")
        looks = process.b.requests(METADATA)
        await eventually(lambda: process.b.requests(METADATA) > looks + 1, "two looks more")
        assert replaced(process) == told
        assert (await shown(process, "b"))["fit"] is True


async def test_a_standby_with_nodes_that_do_not_answer() -> None:
    """A node that hangs is warned of, and its id is in the API."""
    async with watched() as (process, c):
        process.b.name_nodes({11: process.b.address, 12: (HOST, c.port)})
        c.script[18] = closing
        await warned(process, "the standby b: some of its nodes do not answer: 12")
        one = await shown(process, "b")
        assert [node["reachable"] for node in one["nodes"]] == [True, False]
        assert one["fit"] is True
        assert (await series(process, "b"))["nodes_unreachable"] == 1


async def test_before_the_first_look() -> None:
    """Nothing is known of a standby, which is no reason to warn; no automatic failover would go there."""
    async with watched() as (process, c):
        c.script[METADATA] = silent
        await apply(process.alive.process, settings(process, OFTEN, a=process.a, c=c))
        assert await warnings(process) == []
        one = await shown(process, "c")
        assert (one["reachable"], one["since"], one["last_answer"], one["fit"]) == (None, None, None, False)
        assert one["warnings"] == ["it was not looked at yet"]
        assert await series(process, "c") == {"fit": 0}


async def test_a_watcher_that_was_stopped_calls_nobody() -> None:
    """A task of it that has its answer at a switch runs on to its next checkpoint: what it says is of before."""
    async with watched() as (process, _):
        left, taken = (process.cluster.upstreams.all[name] for name in "ab")
        before = left.watcher, taken.watcher
        assert (await process.post("failover", {"to": "b"}))[0] == 200
        known = process.cluster.counters.nodes[1].reachable, taken.standing.last
        before[0]._prober._on_reachability(1, True, None)
        before[1]._on_look(Look(0.0, error="late"))
        assert (process.cluster.counters.nodes[1].reachable, taken.standing.last) == known
