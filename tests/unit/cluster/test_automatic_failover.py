"""Which upstream an automatic failover takes, when clusters do not answer or have nodes without a port."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from kproxy.topology.reachability import Reachability
from kproxy.topology.standing import Look
from kproxy.wire.header import RequestHeader
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
async def three(
    b_nodes: tuple[int, ...], c_nodes: tuple[int, ...], looks: str = "100ms"
) -> AsyncIterator[tuple[Two, ScriptedBroker]]:
    """As `two`, with a third upstream cluster `c`, and automatic failover; standbys were looked at once."""
    async with brokers((1,), b_nodes, c_nodes) as (a, b, c):
        a.answer.cluster_id, b.answer.cluster_id, c.answer.cluster_id = "A", "B", "C"
        servers = [
            {"name": n, "bootstrap_servers": f"{HOST}:{one.port}"} for n, one in zip("abc", (a, b, c), strict=True)
        ]
        failover = AWAY | {"standby_interval": looks}
        cluster = offset("1-3") | {"upstreams": servers, "failover": failover}
        async with living(described(a, b, cluster=cluster)) as alive:
            await alive.until_state("ready")
            process = Two(alive, a, b)
            standbys = process.cluster.upstreams.standbys
            await eventually(lambda: all(one.standing.answers for one in standbys), "looks at all standbys")
            yield process, c


def passed_over(process: Two) -> list[tuple[str, str]]:
    """Return which standbys were passed over, and why."""
    return [(one["to"], one["why"]) for one in events(process, "an upstream cluster is passed over")]


async def away(process: Two) -> None:
    """Let the active one answer no more."""
    process.a.script[METADATA] = closing
    await process.a.drop()


async def until_active(process: Two, name: str) -> None:
    """Wait for the failover."""
    await eventually(lambda: process.cluster.upstreams.active.name == name, f"the failover to {name}", 20)


async def test_an_automatic_failover_passes_over_a_cluster_with_a_node_without_a_port() -> None:
    """It takes the next cluster, and an event says why it did not take this one."""
    async with three((7,), (3,)) as (process, _):
        process.a.script[METADATA] = closing
        await process.a.drop()
        await eventually(lambda: process.cluster.upstreams.active.name == "c", "the failover", 20)
        assert events(process, "an upstream cluster is passed over") == [{"to": "b", "why": NOT_IN_RANGES.format(7)}]


async def test_the_floor_after_a_restart(tmp_path: Path) -> None:
    """It goes on from the last failover: a process that began anew does not switch sooner than one that did not."""
    state, cluster = {"path": str(tmp_path / "state.db")}, {"failover": AWAY | {"floor": "6s"}}
    async with brokers((1,), (2,)) as (a, b):
        config = described(a, b, state=state, cluster=cluster)
        async with living(config) as alive:
            await alive.until_state("ready")
            begun = trio.current_time()
            assert (await Two(alive, a, b).post("failover", {"to": "b"}))[0] == 200
        async with living(config) as alive:
            process = Two(alive, b, a)
            await alive.until_state("ready")
            await away(process)
            await until_active(process, "a")
        assert trio.current_time() - begun >= 6


async def test_no_automatic_failover_while_no_cluster_has_ports() -> None:
    """Each cluster gives one event for each outage, not for each attempt; the next outage gives another."""
    async with three((7,), (8,), looks="60s") as (process, c):  # so that c is asked by attempts only
        for outage in (1, 2):
            process.a.script[METADATA] = closing
            await process.a.drop()
            c.seen.clear()
            await eventually(lambda: c.requests(METADATA) > 2, "several attempts", 20)
            passed = [fields["to"] for fields in events(process, "an upstream cluster is passed over")]
            assert passed == ["b", "c"] * outage
            del process.a.script[METADATA]
            await eventually(lambda: process.cluster.upstreams.watcher.reachable is True, "the active one is back", 20)
            await eventually(lambda: not process.cluster.automatic_failover._reported, "the outage is over")
        assert not events(process, "no upstream cluster answers")
        assert (process.cluster.upstreams.active.name, process.cluster.epoch) == ("a", 0)


async def test_no_upstream_answers() -> None:
    """Each outage gives one event; the first cluster that answers takes over."""
    async with three((2,), (3,)) as (process, c):
        for broker in (process.a, process.b, c):
            broker.script[METADATA] = closing
            await broker.drop()
        await eventually(lambda: bool(events(process, "no upstream cluster answers")), "the event", 20)
        c.seen.clear()
        await eventually(lambda: c.requests(METADATA) > 2, "several attempts", 20)
        assert events(process, "no upstream cluster answers") == [{"active": "a"}]
        assert [name for name, _ in passed_over(process)] == ["b", "c"]
        del c.script[METADATA]
        await eventually(lambda: process.cluster.upstreams.active.name == "c", "the failover", 20)


async def test_the_active_one_is_asked_once_more() -> None:
    """Its last poll may be half a minute ago: where it answers again, nobody is moved."""
    async with three((2,), (3,)) as (process, _):
        cluster = process.cluster
        cluster.upstreams.watcher.upstream = Reachability(False, 0.0, "away")
        await cluster.automatic_failover._to_next()
        assert (cluster.upstreams.active.name, cluster.epoch, passed_over(process)) == ("a", 0, [])
        await away(process)
        await until_active(process, "b")


async def test_a_reload_keeps_the_floor() -> None:
    """After a switch none happens by itself for `failover.floor`, whatever else is reloaded meanwhile."""
    async with three((2,), (3,)) as (process, _):
        await away(process)
        await until_active(process, "b")
        switches = process.cluster.switches
        switched_at = switches.failover.switched_at
        switches.reconfigure(process.cluster.settings)
        assert switches.failover.switched_at == switched_at is not None


async def test_a_standby_that_was_away_at_the_last_look_is_passed_over() -> None:
    """It is known beforehand, so nobody has to wait until it does not answer; the event has the reason."""
    async with three((2,), (3,)) as (process, _):
        process.b.script[METADATA] = closing
        await process.b.drop()
        standby = process.cluster.upstreams.all["b"].standing
        await eventually(lambda: not standby.answers, "a look at the one that is away")
        await away(process)
        await until_active(process, "c")
        ((name, why),) = passed_over(process)
        assert (name, why.partition(": ")[0]) == ("b", "it does not answer")


async def test_a_standby_that_goes_between_two_looks_is_passed_over() -> None:
    """Its last look was good; it is asked again before clients are sent there."""
    async with three((2,), (3,), looks="1h") as (process, _):
        process.b.script[METADATA] = closing
        await process.b.drop()
        await away(process)
        await until_active(process, "c")
        ((name, why),) = passed_over(process)
        assert name == "b"
        assert f"{HOST}:{process.b.port}" in why


async def test_two_clusters_that_answer_in_turn_are_passed_over() -> None:
    """No failover goes where it is not known which cluster answers."""

    async def either(broker: ScriptedBroker, stream: trio.SocketStream, header: RequestHeader) -> None:
        broker.answer.cluster_id = {"B": "X", "X": "B"}[str(broker.answer.cluster_id)]
        await broker.good(stream, header)

    async with three((2,), (3,)) as (process, _):
        process.b.script[METADATA] = either
        standby = process.cluster.upstreams.all["b"].standing
        await eventually(lambda: standby.is_doubtful, "both were seen")
        await away(process)
        await until_active(process, "c")
        ((name, why),) = passed_over(process)
        assert name == "b"
        assert why in {f"its cluster id has changed from {ids}" for ids in ("B to X", "X to B")}


async def test_another_cluster_than_at_the_last_look_has_to_show_itself_thrice() -> None:
    """It is passed over first, and looked at soon; when it stays, clients are sent there, as to any other one."""
    async with three((2,), (7,), looks="1h") as (process, _):
        process.b.answer.cluster_id = "X"
        await away(process)
        await until_active(process, "b")
        assert passed_over(process) == [("b", "its cluster id has changed from B to X"), ("c", NOT_IN_RANGES.format(7))]
        told = events(process, "a standby is another cluster than before")
        assert told == [{"standby": "b", "cluster_id": "X", "previous": "B"}]


async def test_a_standby_that_refuses_kproxy_is_not_asked_more_often() -> None:
    """What a failover would like to know is no reason to have its user locked out."""
    async with three((2,), (7,)) as (process, c):
        standby = process.cluster.upstreams.all["b"]
        standby.standing.note(Look(trio.current_time(), error="b refuses kproxy", own=True), {})
        standby.stop()
        standby.watcher.blind = "b refuses kproxy"
        await away(process)
        await eventually(lambda: len(passed_over(process)) == 2, "both are passed over", 20)
        assert passed_over(process)[0] == ("b", "kproxy cannot look at it: b refuses kproxy")
        c.seen.clear()
        await eventually(lambda: c.requests(METADATA) > 2, "the other one is asked again", 20)
        assert not standby.watcher._hinted.is_set()
        assert not events(process, "no upstream cluster answers")
