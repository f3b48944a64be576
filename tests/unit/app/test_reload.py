"""Reloads and the active upstream: one that is taken away, and a failover that comes while a reload is planned."""

from __future__ import annotations

import trio

from kproxy.app.reload import apply
from kproxy.config import Config
from tests.unit.app.living import HOST, METADATA, brokers, once
from tests.unit.cluster.test_epochs import Two, described, two
from tests.unit.relay.sockets import eventually
from tests.unit.upstream.scripted_broker import ScriptedBroker


def with_upstreams(process: Two, **upstreams: ScriptedBroker) -> Config:
    """The configuration with this list of upstreams."""
    servers = [{"name": name, "bootstrap_servers": f"{HOST}:{broker.port}"} for name, broker in upstreams.items()]
    return described(process.a, process.b, cluster={"upstreams": servers}, admin=process.alive.listens)


async def test_a_reload_without_the_active_upstream() -> None:
    """The first one of the new list becomes active, and failovers go on from there."""
    async with two() as process:
        await apply(process.alive.process, with_upstreams(process, new=process.b, b=process.a))
        assert (process.cluster.upstreams.active.name, process.cluster.upstreams.cluster_id) == ("new", "B")
        assert await process.alive.get("/readyz") == {"state": "ready", "reasons": []}
        process.cluster.rebootstrap.epoch.floor = 0.0
        assert (await process.post("failover"))[1]["upstream"] == "b"
        assert process.cluster.upstreams.cluster_id == "A"


async def test_a_reload_soon_after_a_failover() -> None:
    """What begins no epoch does not wait until another one may begin: a level of the log, for minutes."""
    async with two() as process:
        process.cluster.rebootstrap.epoch.floor = 600.0
        await process.post("failover")
        same = process.alive.process.config
        louder = same.model_copy(update={"log": same.log.model_copy(update={"level": "debug"})})
        with trio.fail_after(20):
            await apply(process.alive.process, louder)
        assert process.alive.process.config.log.level == "debug"


async def test_a_failover_while_a_reload_is_planned() -> None:
    """It stays: what the reload had planned before it would send clients to where the failover took them from."""
    async with two() as process, brokers((21,)) as (new,), trio.open_nursery() as nursery:
        process.cluster.rebootstrap.epoch.floor = 0.0
        new.script[METADATA] = once(answers := trio.Event())
        nursery.start_soon(apply, process.alive.process, with_upstreams(process, new=new, b=process.b))
        await eventually(
            lambda: any(one.api_key == METADATA for one in new.seen), "the reload's look at the new upstream"
        )
        assert (await process.post("failover", {"to": "b"}))[0] == 200
        answers.set()
        await eventually(lambda: "a" not in process.cluster.upstreams.all, "the reload")
        assert process.cluster.upstreams.active.name == "b"
        assert process.cluster.rebootstrap.epoch.number == 1
