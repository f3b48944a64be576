"""Reloads that come while a failover asks its target, and what reservations of ports leave behind."""

from __future__ import annotations

import copy

import pytest
import trio
import trio.lowlevel

from kproxy.cluster.doors import PortDoors
from tests.unit.cluster.clusters import started
from tests.unit.cluster.test_automatic_failover import away, three, until_active
from tests.unit.cluster.test_epochs import Two, two
from tests.unit.relay.sockets import eventually


def replaced_during_a_look(process: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `b` be another object, as a reload makes one, when it was looked at."""
    upstreams = process.cluster.upstreams
    before = upstreams.all["b"]
    look = before.look

    async def meanwhile() -> object:
        found = await look()
        other = copy.copy(before)
        other.__dict__.pop("look")
        upstreams.all = {**upstreams.all, "b": other}
        return found

    monkeypatch.setattr(before, "look", meanwhile)


async def test_a_reload_during_a_failover(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator is told, and nothing has changed; the next one is made."""
    async with two() as process:
        replaced_during_a_look(process, monkeypatch)
        status, answer = await process.post("failover", {"to": "b"})
        assert status == 409
        assert "a reload has changed the upstream clusters meanwhile" in str(answer)
        assert process.cluster.upstreams.active.name == "a"
        monkeypatch.undo()
        assert (await process.post("failover", {"to": "b"}))[0] == 200
        assert process.cluster.upstreams.active.name == "b"


async def test_a_reload_during_an_automatic_failover(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search begins anew among the present upstreams; no fault is noted."""
    async with three((2,), (3,)) as (process, _):
        replaced_during_a_look(process, monkeypatch)
        await away(process)
        await until_active(process, "b")
        assert not any(process.cluster.counters.troubles.errors.values())


async def test_a_reserved_port_leaves_nothing() -> None:
    """However often a standby's nodes are tried."""
    async with started(first_port=0) as cluster:
        doors = cluster.listeners._doors
        assert isinstance(doors, PortDoors)
        for _ in range(20):
            with cluster.nodes.reserved([5]) as problems:
                assert not problems
            await trio.lowlevel.checkpoint()
        await eventually(lambda: len(doors._listeners) == 1, "only the bootstrap port is left")
