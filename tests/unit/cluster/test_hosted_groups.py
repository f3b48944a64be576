"""Hosted groups when the Kafka cluster behind them changes, or only seems to: at a restart, a reload, a switch."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from kproxy.config import Config
from kproxy.coordinator.messages import Join, Joined, Sync, Synced
from kproxy.coordinator.states import GroupState
from kproxy.local_kafka.ports import free_ports
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.app.living import HOST, METADATA, Living, brokers, living, named_itself
from tests.unit.cluster.test_epochs import Two, described, two
from tests.unit.relay.sockets import eventually
from tests.unit.upstream.scripted_broker import ScriptedBroker, silent

GROUP = "orders"
HOSTED = {"groups": [{"match": ".*", "initial_rebalance_delay": "0s"}]}


def coordinator(process: Two) -> Any:
    """The coordinator of the hosted groups."""
    return process.cluster.groups.coordinator


async def stable(process: Two) -> Joined:
    """Have one member join, and get its assignment."""
    joined: list[Joined] = []
    synced: list[Synced] = []
    said = Join(GROUP, "", None, "app", "/h", 10, 60, "consumer", (("range", b"m"),), False)
    with process.cluster.groups.acting() as now:
        coordinator(process).join(said, joined.append, now)
    await eventually(lambda: bool(joined), "an answer")
    (answer,) = joined
    with process.cluster.groups.acting() as now:
        said_too = Sync(GROUP, answer.member_id, None, answer.generation, assignments={answer.member_id: b"mine"})
        coordinator(process).sync(said_too, synced.append, now)
    await eventually(lambda: bool(synced), "an assignment")
    return answer


def commit(process: Two, joined: Joined) -> int:
    """The error of the member's commit."""
    with process.cluster.groups.acting() as now:
        code: int = coordinator(process).may_commit(GROUP, joined.member_id, None, joined.generation, now)
        return code


@asynccontextmanager
async def before_a_restart(
    directory: Path,
) -> AsyncIterator[tuple[ScriptedBroker, Config, Callable[[Living], Two], Joined]]:
    """The first broker, what each process is started with, how to see one, and the member that the first one had."""
    async with brokers((1,), (1,)) as (a, b):
        a.answer.cluster_id, b.answer.cluster_id = "A", "B"
        config = described(a, b, cluster=HOSTED, state={"path": str(directory / "state.db")})

        def seen(alive: Living) -> Two:
            return Two(alive, a, b)

        async with living(config) as alive:
            await alive.until_state("ready")
            joined = await stable(seen(alive))
        yield a, config, seen, joined


async def test_a_restart_in_front_of_another_cluster(tmp_path: Path) -> None:
    """Members keep their ids and lose their generation, so that they fetch their offsets where they are now."""
    async with before_a_restart(tmp_path) as (broker, config, seen, joined):
        async with living(config) as alive:
            await alive.until_state("ready")
            assert commit(seen(alive), joined) == 0, "the same cluster: nothing has changed"
        broker.answer.cluster_id = "another"
        async with living(config) as alive:
            await alive.until_state("ready")
            process = seen(alive)
            assert commit(process, joined) == ErrorCode.ILLEGAL_GENERATION
            group = coordinator(process).groups[GROUP]
            assert (group.state, list(group.members)) == (GroupState.PREPARING, [joined.member_id])


async def test_a_restart_before_the_cluster_shows_itself(tmp_path: Path) -> None:
    """Members stay, and their commits wait (14): the positions may be of another cluster."""
    loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    async with before_a_restart(tmp_path) as (broker, config, seen, joined):
        broker.script[METADATA] = silent
        async with living(config) as alive:
            process = seen(alive)
            await eventually(lambda: coordinator(process).refuses == 0, "the groups are there")
            assert commit(process, joined) == loading
            with process.cluster.groups.acting() as now:
                said = GROUP, joined.member_id, None, joined.generation
                assert coordinator(process).heartbeat(*said, now) == 0
                assert coordinator(process).may_commit_in_transaction(*said, now) == loading
            del broker.script[METADATA]
            await eventually(lambda: commit(process, joined) == 0, "the cluster has shown itself")


async def test_a_reload_that_names_the_same_cluster() -> None:
    """Another list of bootstrap servers of the same cluster: members stay in their generation."""
    async with two(cluster=HOSTED) as process:
        joined = await stable(process)
        servers = f"{HOST}:{process.a.port},{HOST}:{free_ports(1)[0]}"
        upstreams = [{"name": "a", "bootstrap_servers": servers}]
        process.alive.config = described(
            process.a, process.b, cluster={"upstreams": upstreams, **HOSTED}, admin=process.alive.listens
        )
        os.kill(os.getpid(), signal.SIGHUP)
        await eventually(lambda: process.cluster.epoch == 1, "a new epoch")
        assert commit(process, joined) == 0
        assert coordinator(process).groups[GROUP].state is GroupState.STABLE


async def test_all_brokers_replaced() -> None:
    """The same cluster with other nodes: members stay in their generation."""
    async with two(cluster=HOSTED) as process:
        joined = await stable(process)
        named_itself(process.a, 21)
        await eventually(lambda: process.cluster.epoch == 1, "a new epoch")
        assert commit(process, joined) == 0


async def test_another_cluster_by_the_same_names() -> None:
    """As soon as a client meets it commits wait (14), until the generation is over (22); its positions go nowhere."""
    async with two(cluster=HOSTED, topology={"epoch_floor": "3s"}) as process:
        joined = await stable(process)
        assert commit(process, joined) == 0
        process.cluster.destination.learn("another", [(1, HOST, process.a.port)])
        assert commit(process, joined) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        await eventually(lambda: commit(process, joined) == 0, "it was not confirmed")
        assert (await process.post("rebootstrap"))[0] == 200
        process.a.answer.cluster_id = "another"
        await eventually(lambda: commit(process, joined) != 0, "the first sight of it")
        codes = [commit(process, joined)]
        while codes[-1] == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            await trio.sleep(0.02)
            codes.append(commit(process, joined))
        assert set(codes) == {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION}
        assert process.cluster.epoch == 2


async def test_a_failover() -> None:
    """Another cluster ends the generation."""
    async with two(cluster=HOSTED) as process:
        joined = await stable(process)
        assert (await process.post("failover", {"to": "b"}))[0] == 200
        assert commit(process, joined) == ErrorCode.ILLEGAL_GENERATION
