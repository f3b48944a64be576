"""kproxy.rebootstrap.leave_groups: members leave by kproxy's own client, whatever brokers answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import pytest
import trio

from kproxy.errors import UpstreamError
from kproxy.rebootstrap import leave_groups
from kproxy.rebootstrap.actions import Outcome
from kproxy.rebootstrap.leave_groups import Leaving
from kproxy.upstream.client import UpstreamClient
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.rebootstrap.coordinating_broker import CoordinatingBroker
from tests.unit.upstream.scripted_broker import eventually

GROUPS = {"g": ["a", "b"], "h": ["c"]}
MEMBERS = [(group, member) for group, members in GROUPS.items() for member in members]


@asynccontextmanager
async def serving(broker: CoordinatingBroker) -> AsyncIterator[UpstreamClient]:
    """Yield a client of the broker, which is node 1."""
    async with trio.open_nursery() as nursery:
        await nursery.start(broker.run)
        broker.name_nodes({1: broker.address})
        client = UpstreamClient([broker.address], connect_timeout=5, request_timeout=5)
        await nursery.start(client.run)
        yield client
        nursery.cancel_scope.cancel()


async def left(broker: CoordinatingBroker, members: Mapping[str, Sequence[str]] = GROUPS) -> Leaving:
    """Have these members leave."""
    leaving = Leaving(members)
    async with serving(broker) as client:
        with trio.fail_after(40):
            await leaving.run(client)
    return leaving


async def test_members_of_a_group_leave_together() -> None:
    """One request for each group, so that it rebalances once; each member is counted."""
    broker = CoordinatingBroker(*MEMBERS)
    leaving = await left(broker)
    assert (broker.members, sorted(broker.left)) == (set(), sorted(GROUPS.items()))
    assert (leaving.outcomes, leaving.why) == ({Outcome.LEFT: 3}, "")


async def test_an_old_broker_is_asked_for_each_member() -> None:
    """Before Kafka 2.4 a LeaveGroup has one member."""
    broker = CoordinatingBroker(*MEMBERS, newest_leave=2)
    broker.member_errors["c"] = ErrorCode.GROUP_AUTHORIZATION_FAILED
    leaving = await left(broker)
    assert sorted(broker.left) == [("g", ["a"]), ("g", ["b"]), ("h", ["c"])]
    assert leaving.outcomes == {Outcome.LEFT: 2, Outcome.REFUSED: 1}
    assert leaving.why == "group h: the broker answers LeaveGroup with GROUP_AUTHORIZATION_FAILED"


async def test_a_group_of_many_leaves_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """No request grows without bounds."""
    monkeypatch.setattr(leave_groups, "_BATCH", 2)
    broker = CoordinatingBroker(*(("g", str(number)) for number in range(5)))
    leaving = await left(broker, {"g": [str(number) for number in range(5)]})
    assert (sorted(len(members) for _, members in broker.left), leaving.outcomes) == ([1, 2, 2], {Outcome.LEFT: 5})


async def test_who_is_unknown_is_gone() -> None:
    """Its session has timed out, or it left by itself: nothing is wrong."""
    leaving = await left(CoordinatingBroker(("g", "a")))
    assert (leaving.outcomes, leaving.why) == ({Outcome.LEFT: 1, Outcome.GONE: 2}, "")


async def test_one_group_that_is_refused_keeps_no_other_back() -> None:
    """The first reason is kept, with the group's name."""
    broker = CoordinatingBroker(*MEMBERS)
    broker.refused_groups["g"] = ErrorCode.GROUP_AUTHORIZATION_FAILED
    leaving = await left(broker)
    assert leaving.outcomes == {Outcome.REFUSED: 2, Outcome.LEFT: 1}
    assert leaving.why == "group g: the broker answers FindCoordinator with GROUP_AUTHORIZATION_FAILED"


@pytest.mark.parametrize("wrong", ["error", "left out"])
async def test_one_member_that_is_refused_keeps_no_other_back(wrong: str) -> None:
    """A member that the answer leaves out counts as refused, too."""
    broker = CoordinatingBroker(*MEMBERS)
    if wrong == "error":
        broker.member_errors["a"] = ErrorCode.UNKNOWN_SERVER_ERROR
    else:
        broker.omits.add("a")
    leaving = await left(broker)
    assert leaving.outcomes == {Outcome.REFUSED: 1, Outcome.LEFT: 2}
    assert leaving.why == "group g: the broker answers LeaveGroup with UNKNOWN_SERVER_ERROR"


@pytest.mark.parametrize(
    ("code", "look_ups"),
    [
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, 2),
        (ErrorCode.COORDINATOR_NOT_AVAILABLE, 3),
        (ErrorCode.NOT_COORDINATOR, 3),
    ],
)
@pytest.mark.parametrize("newest_leave", [2, 5])
async def test_a_coordinator_that_moves_is_looked_for_again(code: int, look_ups: int, newest_leave: int) -> None:
    """Its group is loaded, or is another broker's by now, which is looked for only then: the next answer counts."""
    broker = CoordinatingBroker(("g", "a"), newest_leave=newest_leave)
    broker.coordinator_errors.append(code)
    broker.leave_errors.append(code)
    leaving = await left(broker, {"g": ["a"]})
    assert (leaving.outcomes, leaving.why) == ({Outcome.LEFT: 1}, "")
    assert broker.requests(ApiKey.FIND_COORDINATOR) == look_ups


async def test_a_coordinator_that_never_comes_is_named() -> None:
    """When time is up, the reason is what it answered."""
    broker = CoordinatingBroker(*MEMBERS)
    broker.coordinator_errors.extend([ErrorCode.COORDINATOR_NOT_AVAILABLE] * 1000)
    leaving = Leaving(GROUPS)
    async with serving(broker) as client:
        with trio.move_on_after(1):
            await leaving.run(client)
    leaving.give_up("time is up")
    assert leaving.outcomes == {Outcome.UNREACHABLE: 3}
    assert "the broker answers FindCoordinator with COORDINATOR_NOT_AVAILABLE" in leaving.why


async def test_what_is_not_settled_when_time_is_up() -> None:
    """Those that have left stay counted as such; nothing is counted twice."""
    groups = {"g": ["a"], "h": ["c"], "i": ["d"]}
    broker = CoordinatingBroker(("g", "a"), ("h", "c"), ("i", "d"))
    broker.answers = 1
    leaving = Leaving(groups)
    async with serving(broker) as client, trio.open_nursery() as nursery:
        nursery.start_soon(leaving.run, client)
        await eventually(lambda: leaving.outcomes.total() == 1, "one has left")
        nursery.cancel_scope.cancel()
    leaving.give_up("time is up")
    assert (leaving.outcomes, leaving.why) == ({Outcome.LEFT: 1, Outcome.UNREACHABLE: 2}, "time is up")
    leaving.give_up("again")
    assert leaving.outcomes.total() == 3


async def test_a_coordinator_that_breaks_off() -> None:
    """Its members are unreachable; the reason says where."""
    broker = CoordinatingBroker(*MEMBERS)
    broker.answers = 0
    leaving = Leaving(GROUPS)
    async with serving(broker) as client, trio.open_nursery() as nursery:
        nursery.start_soon(leaving.run, client)
        await eventually(lambda: len(broker.left) == 2, "both have been asked for")
        await broker.drop()
    assert leaving.outcomes == {Outcome.UNREACHABLE: 3}
    assert f"127.0.0.1:{broker.port}" in leaving.why


async def test_a_cluster_that_nobody_answers_for() -> None:
    """The caller learns it at once, not for each group."""
    leaving = Leaving(GROUPS)
    async with trio.open_nursery() as nursery:
        client = UpstreamClient([("127.0.0.1", 1)], connect_timeout=5, request_timeout=5)
        await nursery.start(client.run)
        with pytest.raises(UpstreamError, match="no broker answers"):
            await leaving.run(client)
        nursery.cancel_scope.cancel()
    assert leaving.outcomes.total() == 0
