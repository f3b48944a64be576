"""A process that agrees with others by orders, which are kept in memory here: what it follows, and what it gives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import trio

from kproxy.agreement.failover_record import FailoverRecord
from kproxy.agreement.order import Order
from kproxy.app import reload
from kproxy.cluster import cluster as cluster_module
from kproxy.cluster import optional
from tests.unit.cluster.test_agreement import Log
from tests.unit.cluster.test_automatic_failover import AWAY, away, passed_over, until_active
from tests.unit.cluster.test_epochs import FLOOR, Two, two
from tests.unit.relay.sockets import eventually

STAY = FailoverRecord(3, "B", False, ("A", "B"), True)
ELSEWHERE = "zzzzzzzzzzzz"
"""Names another replica; of two orders with one number its own is the higher one."""


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Log]:
    """The places of the orders, one at each upstream."""
    found = {"a": Log(), "b": Log()}
    for module in (optional, cluster_module):
        monkeypatch.setattr(module, "places", lambda settings, upstreams: {name: found[name] for name in upstreams})
    return found


@asynccontextmanager
async def agreeing(state: Any = MappingProxyType({}), **failover: Any) -> AsyncIterator[Two]:
    """A process with two upstreams and a control topic."""
    async with two(
        cluster={"failover": {"control_topic": "orders", "standby_interval": "100ms"} | failover}, state=dict(state)
    ) as process:
        yield process


def order(number: int, upstream: str) -> Order:
    """An order of another replica."""
    return Order("c", number, upstream, STAY, ELSEWHERE, "operator", 0.0)


def given(log: Log, number: int, upstream: str) -> None:
    """Have another replica give an order."""
    log.orders.append(order(number, upstream))
    log.tell()


async def shown(process: Two) -> dict[str, Any]:
    """What /api/v1/clusters says of the agreement."""
    answer = await process.alive.get("/api/v1/clusters")
    found: dict[str, Any] = answer["clusters"][0]["agreement"]
    return found


async def test_another_replicas_order(logs: Mapping[str, Log]) -> None:
    """It is followed, with the count of moves that producers go by."""
    async with agreeing() as process:
        given(logs["b"], 1, "b")
        await until_active(process, "b")
        await eventually(lambda: process.cluster.agreement.pending is None, "the order in force")
        assert process.cluster._history.record == STAY
        assert (await shown(process))["order"] == 1
        assert process.cluster.epoch == 1


async def test_an_order_to_be_where_one_is(logs: Mapping[str, Log]) -> None:
    """Nobody is moved; the count of moves is taken."""
    async with agreeing() as process:
        given(logs["a"], 1, "a")
        await eventually(lambda: process.cluster.agreement.followed is not None, "the order in force")
        assert (process.cluster.epoch, process.cluster._history.record.failovers) == (0, STAY.failovers)


async def test_orders_wait_for_the_floor(logs: Mapping[str, Log]) -> None:
    """Meanwhile this replica says that it may be elsewhere than the others; only the newest order counts then."""
    async with agreeing() as process:
        given(logs["b"], 1, "b")
        await until_active(process, "b")
        given(logs["a"], 2, "a")
        await eventually(lambda: process.cluster.agreement.pending is not None, "an order that waits")
        ready = await process.alive.get("/readyz")
        assert ready["reasons"][0]["reason"] == f"order 2 of replica {ELSEWHERE}, to be at a, is not in force here yet"
        given(logs["b"], 3, "b")
        await eventually(lambda: process.cluster.agreement.pending is None, "the last order in force")
        await trio.sleep(2 * FLOOR)
        assert (process.cluster.upstreams.active.name, process.cluster.epoch) == ("b", 1)


async def test_an_upstream_that_is_not_configured_here(logs: Mapping[str, Log]) -> None:
    """This replica stays where it is, and says so."""
    async with agreeing() as process:
        given(logs["b"], 1, "north")
        await eventually(lambda: process.cluster.agreement.pending is not None, "the order")
        ready = await process.alive.get("/readyz")
        assert (ready["state"], process.cluster.upstreams.active.name) == ("degraded", "a")
        assert "to be at north" in ready["reasons"][0]["reason"]


async def test_a_command(logs: Mapping[str, Log]) -> None:
    """It is an order for all, written at the upstream to which it leads."""
    async with agreeing() as process:
        status, answer = await process.post("failover", {"to": "b"})
        assert (status, answer["upstream"]) == (200, "b")
        (written,) = logs["b"].orders
        assert (written.number, written.upstream, written.cause, written.stay.cluster) == (1, "b", "operator", "B")


async def test_a_command_that_cannot_be_written(logs: Mapping[str, Log]) -> None:
    """It is refused, and nobody is moved; forced it counts here."""
    async with agreeing() as process:
        logs["b"].full = "no room"
        status, answer = await process.post("failover", {"to": "b"})
        assert (status, process.cluster.upstreams.active.name) == (409, "a")
        assert "the order to switch to b could not be written, so nothing was switched: no room" in answer["error"]
        assert (await process.post("failover", {"to": "b", "force": True}))[0] == 200
        assert process.cluster.upstreams.active.name == "b"


async def test_a_rehearsal_looks_for_the_orders(logs: Mapping[str, Log]) -> None:
    """A place that cannot be read would refuse the switch."""
    logs["b"].away = "not authorized"
    async with agreeing() as process:
        _, answer = await process.post("failover", {"to": "b", "dry_run": True})
        assert answer["refused"]
        assert answer["findings"][0]["detail"] == "orders cannot be read at b: not authorized"


async def test_an_automatic_failover(logs: Mapping[str, Log]) -> None:
    """It is an order for all; while it cannot be written the upstream is passed over."""
    async with agreeing(**AWAY) as process:
        await eventually(lambda: process.cluster.upstreams.all["b"].standing.answers, "a look at the standby")
        logs["b"].full = "no room"
        await away(process)
        await eventually(lambda: bool(passed_over(process)), "a search in vain", 20)
        assert "could not be written" in passed_over(process)[0][1]
        logs["b"].full = None
        await until_active(process, "b")
        assert [one.cause for one in logs["b"].orders] == ["automatic"]


async def test_a_replica_that_was_faster(logs: Mapping[str, Log]) -> None:
    """No automatic failover is made while another replica's order waits."""
    async with agreeing(**AWAY) as process:
        await eventually(lambda: process.cluster.upstreams.all["b"].standing.answers, "a look at the standby")
        await away(process)
        given(logs["b"], 1, "b")
        await until_active(process, "b")
        await trio.sleep(1)
        assert [one.replica for one in logs["b"].orders] == [ELSEWHERE]


async def test_a_reload_without_the_active_upstream(logs: Mapping[str, Log]) -> None:
    """The switch that it takes is an order for the others, too."""
    async with agreeing() as process:
        await process.post("failover", {"to": "b"})
        await trio.sleep(FLOOR)
        settings = process.alive.process.config.clusters[0]
        left = settings.model_copy(update={"upstreams": settings.upstreams[:1]})
        config = process.alive.process.config.model_copy(update={"clusters": (left,)})
        await reload.apply(process.alive.process, config)
        await until_active(process, "a")
        await eventually(lambda: any(one.cause == "reload" for one in logs["a"].orders), "the order")


async def test_a_restart_without_the_agreement(logs: Mapping[str, Log], tmp_path: Path) -> None:
    """What a replica learned at its start is kept as if it had switched: it begins there, also without the orders."""
    state = {"path": str(tmp_path / "state.db")}
    given(logs["b"], 1, "b")
    async with agreeing(state) as process:
        assert process.cluster.upstreams.active.name == "b"
        assert process.cluster._history.record == STAY
    async with two(state=state) as process:
        assert process.cluster.upstreams.active.name == "b"
        assert process.cluster._history.record == STAY


async def test_the_first_order_waits_for_a_place(logs: Mapping[str, Log], tmp_path: Path) -> None:
    """A replica that was switched before there were orders gives the first one, however late the last place is read."""
    state = {"path": str(tmp_path / "state.db")}
    async with two(state=state) as process:
        await process.post("failover", {"to": "b"})
    logs["a"].away = "a is away"
    async with agreeing(state) as process:
        await trio.sleep(0.5)
        assert logs["b"].orders == []
        logs["a"].away = None
        await eventually(lambda: [one.cause for one in logs["b"].orders] == ["state"], "the first order")
        assert logs["b"].orders[0].upstream == "b"


async def test_what_a_new_process_knows_of_failovers(logs: Mapping[str, Log]) -> None:
    """By the order that it follows: clients may know another cluster's leader epochs, and groups that are not here."""
    given(logs["b"], 1, "b")
    async with agreeing() as process:
        assert (process.cluster.epoch, process.cluster.rebootstrap.may_know_another) == (0, True)
        client = await process.alive.client()
        await client.introduce("librdkafka", "2.15.0")
        (connection,) = process.alive.process.relay.pump.connections.values()
        assert process.cluster.rebootstrap.forgets_leader_epochs(connection.context, "B")
    async with two() as process:
        assert not process.cluster.rebootstrap.may_know_another
