"""kproxy.app.view: the cost of a request."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kproxy.admin import api, turns
from kproxy.admin.message import Request
from kproxy.admin.models import State
from kproxy.app.process import Process
from kproxy.app.view import ProcessView
from kproxy.errors import NotFoundError, RetryLaterError
from kproxy.observe.prometheus import registry_for, render
from tests.unit.admin.steps import counted
from tests.unit.app.living import HOST, brokers, living, settings


class Watched:
    """A process that counts accesses to its parts."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.parts: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.parts.add(name)
        return getattr(self._process, name)


async def test_a_name_check_walks_no_connection() -> None:
    """It accesses only the virtual clusters; a cluster's view accesses the connections, which it counts."""
    async with brokers((1,), (2,)) as both, living(settings(*both)) as alive:
        await alive.until_state("ready")
        watched = Watched(alive.process)
        view = ProcessView(cast("Process", watched))
        assert list(view.cluster_names()) == ["c0", "c1"]
        assert (await api.events(Request("GET", "/", segments={"cluster": "c1"}), view)).status == 200
        for ask in (view.events, view.subscriptions):
            with pytest.raises(NotFoundError, match=r"^there is no cluster 'mian'; there are: c0, c1$"):
                ask("mian")
        with pytest.raises(NotFoundError, match=r"^there is no cluster 'mian'; there are: c0, c1$"):
            await view.cluster("mian")
        assert watched.parts == {"clusters"}
        assert await view.cluster("c1") == (await view.clusters())[1]
        assert watched.parts > {"clusters"}


async def test_whatever_counts_connections_takes_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """With turns of no length a step counts one connection: others run in between, however many there are."""
    monkeypatch.setattr(turns, "SECONDS", 0.0)
    async with brokers((1,)) as one, living(settings(*one)) as alive:
        await alive.until_state("ready")
        for number in range(20):
            client = await alive.client()
            await client.introduce("java", "4", client_id=str(number % 5))
        view = ProcessView(alive.process)
        for ask in (view.count, view.clusters, lambda: view.cluster("c0"), lambda: view.clients("c0")):
            with counted() as steps:
                await ask()
            assert steps.number >= 20
        assert (await view.cluster("c0")).connections == 20
        found = {client.client_id: client.connections for client in await view.clients(None)}
        assert found == {str(number): 4 for number in range(5)}
        assert list(await view.clients("other")) == []
        ids = [shown.id for shown in view.connections("c0", 0) if shown is not None]
        assert [shown and shown.id for shown in view.connections(None, ids[4])] == ids[5:]
        assert list(view.connections("other", ids[-2])) == [None]


async def test_before_the_start() -> None:
    """What there is can be asked for while kproxy waits for orders of other replicas; commands are to come later."""
    async with brokers((1,), (1,)) as (one, other):
        upstreams = [
            {"name": name, "bootstrap_servers": f"{HOST}:{broker.port}"} for name, broker in (("a", one), ("b", other))
        ]
        described = {"name": "c0", "upstreams": upstreams, "failover": {"control_topic": "orders"}}
        process = Process(settings(one, clusters=[described | {"listen": f"{HOST}:0", "nodes": {"first_port": 0}}]))
        view = ProcessView(process)
        assert view.readiness().state is State.STARTING
        (shown,) = await view.clusters()
        assert (shown.upstream, shown.nodes, shown.retired, shown.unmapped) == ("a", [], [], [])
        assert [each.name for each in shown.upstreams] == ["a", "b"]
        assert b"kproxy_failover_orders_readable" in render(registry_for(await view.count()))[1]
        for command in (lambda: view.rebootstrap("c0"), lambda: view.rehearse("c0", None)):
            with pytest.raises(RetryLaterError, match="kproxy is starting"):
                await command()
        with pytest.raises(RetryLaterError, match="kproxy is starting"):
            await view.failover("c0", "b", False)
