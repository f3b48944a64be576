"""Members of groups at a switch to another upstream: who leaves the old cluster, when, and who stays."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from kproxy.app.reload import apply
from kproxy.cluster import departures
from kproxy.rebootstrap.actions import Outcome
from kproxy.rebootstrap.service import PATIENCE
from kproxy.upstream import retries
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.heartbeat_request import HeartbeatRequest
from kproxy.wire.generated.offset_commit_request import OffsetCommitRequest
from kproxy.wire.header import RequestHeader, encode_request_header
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import frame
from tests.support.bounds import Bounds
from tests.unit.app.living import HEARTBEAT, HOST, Client, living, named_itself
from tests.unit.cluster.test_epochs import Two, described
from tests.unit.rebootstrap.coordinating_broker import CoordinatingBroker
from tests.unit.relay.sockets import eventually
from tests.unit.upstream.scripted_broker import METADATA, ScriptedBroker, closing, silent

MEMBER = ("g", "m")
STAYS = "members stay at the old coordinator"
LEFT = "members have left the old coordinator"


@asynccontextmanager
async def coordinating(**others: Any) -> AsyncIterator[Two]:
    """A process over two clusters that coordinate groups; `MEMBER` is in one at the first."""
    a, b = CoordinatingBroker(MEMBER), CoordinatingBroker()
    async with trio.open_nursery() as nursery:
        for broker, name in ((a, "A"), (b, "B")):
            await nursery.start(broker.run)
            named_itself(broker, 1)
            broker.answer.cluster_id = name
            broker.script[HEARTBEAT] = broker.script[ApiKey.OFFSET_COMMIT] = silent
        async with living(described(a, b, **others)) as alive:
            await alive.until_state("ready")
            yield Two(alive, a, b)
        nursery.cancel_scope.cancel()


def request(key: int, version: int, correlation_id: int, body: WireMessage) -> bytes:
    """Return a request's frame."""
    return frame(encode_request_header(RequestHeader(key, version, correlation_id, "app")), body.encode(version))


async def joined(process: Two, group: str = "g", member: str = "m", *, at: ScriptedBroker | None = None) -> Client:
    """Return a client whose member has sent a heartbeat, by default to the first cluster; it gets no answer."""
    broker = at or process.a
    client = await process.client(process.port(1))
    before = broker.requests(HEARTBEAT)
    await client.send(request(HEARTBEAT, 4, 2, HeartbeatRequest(group_id=group, generation_id=1, member_id=member)))
    await eventually(lambda: broker.requests(HEARTBEAT) > before, "a heartbeat")
    return client


def counted(process: Two) -> dict[str, int]:
    """Return the outcomes that were counted."""
    return {outcome: count for outcome, count in process.cluster.counters.departures.items() if count}


async def settled(process: Two, total: int = 1) -> None:
    """Wait until so many members are counted."""
    await eventually(lambda: sum(counted(process).values()) == total, "members are counted", 10)


async def test_a_member_leaves_the_cluster_that_it_was_sent_away_from() -> None:
    """Not one that came around kproxy; the other cluster is asked for nothing."""
    async with coordinating() as process:
        assert isinstance(process.a, CoordinatingBroker)
        assert isinstance(process.b, CoordinatingBroker)
        process.a.members.add(("g", "stranger"))
        await joined(process)
        await process.post("failover", {"to": "b"})
        await settled(process)
        assert (process.a.members, process.a.left) == ({("g", "stranger")}, [("g", ["m"])])
        assert (process.b.left, counted(process)) == ([], {Outcome.LEFT: 1})


async def test_a_member_leaves_after_its_connection_has_ended() -> None:
    """A commit that the old cluster has is awaited: one that it gets after the member has left would be refused."""
    async with coordinating() as process:
        assert isinstance(process.a, CoordinatingBroker)
        client = await joined(process)
        commit = OffsetCommitRequest(group_id="g", generation_id_or_member_epoch=1, member_id="m")
        await client.send(request(ApiKey.OFFSET_COMMIT, 8, 3, commit))
        await eventually(lambda: process.a.requests(ApiKey.OFFSET_COMMIT) == 1, "a commit")
        connections, open_then = process.alive.process.relay.pump.connections, list[int]()
        process.a.on_leave = lambda: open_then.append(len(connections))
        begun = trio.current_time()
        status, _ = await process.post("failover", {"to": "b"})
        assert status == 200
        await settled(process)
        assert open_then == [0]
        assert trio.current_time() - begun >= PATIENCE


async def test_a_member_that_has_gone_away_before_stays() -> None:
    """Its connection has ended: it may have come back another way."""
    async with coordinating() as process:
        assert isinstance(process.a, CoordinatingBroker)
        await joined(process)
        await process.a.drop()
        await eventually(lambda: not process.alive.process.relay.pump.connections, "its end")
        await joined(process, "other", "n")
        await process.post("failover", {"to": "b"})
        await settled(process)
        assert process.a.left == [("other", ["n"])]


async def test_members_stay_where_both_upstreams_are_one_cluster() -> None:
    """They go on there under their ids."""
    async with coordinating() as process:
        process.b.answer.cluster_id = "A"
        await joined(process)
        a, b = process.cluster.upstreams.all.values()
        departures = process.cluster._departures
        assert departures.switch(a, await b.look()) is None
        assert len(departures.members) == 1


async def test_members_of_hosted_groups_stay() -> None:
    """Their coordinator is kproxy."""
    async with coordinating(cluster={"groups": [{"match": "hosted"}]}) as process:
        assert isinstance(process.a, CoordinatingBroker)
        await joined(process, "hosted", "h")
        await joined(process)
        await process.post("failover", {"to": "b"})
        await settled(process)
        assert process.a.left == [("g", ["m"])]


async def test_a_reload_to_another_cluster() -> None:
    """Members leave the upstream cluster that is in the configuration no more."""
    async with coordinating() as process:
        assert isinstance(process.a, CoordinatingBroker)
        await joined(process)
        only = {"upstreams": [{"name": "a", "bootstrap_servers": f"{HOST}:{process.b.port}"}]}
        running = process.alive.process.config
        config = described(process.a, process.b, cluster=only, admin=process.alive.listens)
        assert running.admin == config.admin
        with trio.fail_after(40):
            await apply(process.alive.process, config)
        await settled(process)
        assert process.a.left == [("g", ["m"])]


async def test_what_may_not_be_done_is_logged_once() -> None:
    """With the number of members, and the first reason."""
    with capture_logs() as lines:
        await _refused()
    (line,) = [line for line in lines if line["event"] in (LEFT, STAYS)]
    assert (line["event"], line["log_level"], line["cluster"], line["upstream"]) == (STAYS, "warning", "c", "a")
    assert (line["stay"], line["left"]) == (2, 0)
    assert line["why"].endswith("the broker answers FindCoordinator with GROUP_AUTHORIZATION_FAILED")


async def _refused() -> None:
    """Fail over with members of two groups whose coordinator kproxy may not know."""
    async with coordinating() as process:
        assert isinstance(process.a, CoordinatingBroker)
        for group in ("g", "h"):
            process.a.refused_groups[group] = ErrorCode.GROUP_AUTHORIZATION_FAILED
            await joined(process, group)
        await process.post("failover", {"to": "b"})
        await settled(process, 2)
        assert counted(process) == {Outcome.REFUSED: 2}


async def test_a_cluster_that_is_away(bounds: Bounds) -> None:
    """The switch does not wait for it; its members are counted."""
    async with coordinating() as process:
        client = await joined(process)
        process.a.script[METADATA] = closing
        begun = trio.current_time()
        await process.post("failover", {"to": "b"})
        bounds.below(trio.current_time() - begun, PATIENCE, "seconds of the switch")
        await client.receive_all()
        await settled(process)
        assert counted(process) == {Outcome.UNREACHABLE: 1}


async def test_a_coordinator_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is up after a few seconds."""
    monkeypatch.setattr(departures, "PATIENCE", 2)
    async with coordinating() as process:
        assert isinstance(process.a, CoordinatingBroker)
        process.a.answers = 0
        await joined(process)
        await process.post("failover", {"to": "b"})
        await settled(process)
        assert (process.a.left, counted(process)) == ([("g", ["m"])], {Outcome.UNREACHABLE: 1})


async def test_the_next_switch_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients may be sent back to the cluster, so who has not left it yet stays, and is not counted."""
    monkeypatch.setattr(retries, "PAUSE", 0.01)
    async with coordinating() as process:
        assert isinstance(process.a, CoordinatingBroker)
        assert isinstance(process.b, CoordinatingBroker)
        process.a.coordinator_errors.extend([ErrorCode.COORDINATOR_NOT_AVAILABLE] * 1000)
        await joined(process)
        await process.post("failover", {"to": "b"})
        await eventually(lambda: process.a.requests(ApiKey.FIND_COORDINATOR) > 0, "the coordinator is looked for")
        await joined(process, "other", "n", at=process.b)
        await eventually(lambda: not process.cluster.rebootstrap.wait(trio.current_time()), "the epoch's floor")
        status, _ = await process.post("failover", {"to": "a"})
        assert status == 200
        process.a.coordinator_errors.clear()
        await settled(process)
        assert (process.a.left, process.b.left, counted(process)) == ([], [("other", ["n"])], {Outcome.GONE: 1})
