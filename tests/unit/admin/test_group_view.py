"""kproxy.admin.group_view: the lag of a hosted group, with a backend that answers, that refuses, and that hangs."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from kproxy.admin.group_view import Question, _present, lag
from kproxy.config import GroupRule
from kproxy.coordinator.consumer_protocol import assigned
from kproxy.coordinator.hosted_groups import HostedGroups
from kproxy.coordinator.lag import PartitionLag
from kproxy.coordinator.messages import Join, Joined, Sync
from kproxy.errors import BackendError, NotFoundError, UpstreamError
from kproxy.observe.troubles import Troubles
from kproxy.wire.generated.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition

GROUP = "orders-1"
ROWS = [PartitionLag("t", 0, 7, 9, None), PartitionLag("t", 1, None, 4, None)]


@pytest.mark.parametrize(("gone", "shown"), [("", "abc"), ("b", "acd"), ("bc", "ade"), ("abcde", "")])
def test_what_goes_makes_no_page_shorter(gone: str, shown: str) -> None:
    """A page that is short says that it is the last one: three of five, of which some go while it is sent."""
    every = dict.fromkeys("edcba")
    page = _present(every, None, 3)
    if gone.startswith("a"):
        every.clear()
        assert list(page) == []
        return
    first = next(page)
    for one in gone:
        del every[one]
    assert first + "".join(page) == shown


async def answers(question: Question) -> list[PartitionLag]:
    """A backend that says what it has."""
    del question
    return ROWS


async def refuses(question: Question) -> list[PartitionLag]:
    """A backend that kproxy cannot ask."""
    del question
    raise UpstreamError("no broker answers")


async def hangs(question: Question) -> list[PartitionLag]:
    """A backend that never answers."""
    del question
    await trio.sleep_forever()
    raise AssertionError


@pytest.fixture
def hosted() -> HostedGroups:
    """Hosted groups, of which none has a member."""
    groups = HostedGroups(
        "main",
        [GroupRule(match="orders-.*", initial_rebalance_delay=0.0)],
        "clusters.0",
        lambda event: None,
        Troubles(),
    )
    groups.coordinator.refuses = 0
    return groups


def join(hosted: HostedGroups, protocol_type: str) -> None:
    """Have a member with partition 0 of `t`."""
    joined: list[Joined] = []
    said = Join(GROUP, "", None, "app", "/192.0.2.1", 10, 60, protocol_type, (("range", b"m"),), False)
    hosted.coordinator.join(said, joined.append, 0.0)
    hosted._timers.fire(1.0)
    (one,) = joined
    assignment = b"\0\0" + ConsumerProtocolAssignment(assigned_partitions=[TopicPartition("t", [0])]).encode(0)
    assert assigned(assignment) == {"t": [0]}
    sync = Sync(GROUP, one.member_id, None, one.generation, assignments={one.member_id: assignment})
    hosted.coordinator.sync(sync, lambda answer: None, 1.0)


@pytest.mark.parametrize(("protocol_type", "owner"), [("consumer", ("app", "192.0.2.1")), ("connect", (None, None))])
async def test_who_is_assigned_a_partition(
    hosted: HostedGroups, protocol_type: str, owner: tuple[str | None, str | None]
) -> None:
    """A consumer's member; the assignments of other protocol types cannot be read."""
    join(hosted, protocol_type)
    rows = list(await lag(hosted, answers, GROUP))
    assert [(row.partition, row.committed, row.lag) for row in rows] == [(0, 7, 2), (1, None, None)]
    assert [(row.client_id, row.host) for row in rows] == [owner, (None, None)]


async def test_a_group_that_is_not_known(hosted: HostedGroups) -> None:
    """One that would be hosted may have offsets; any other is the brokers'."""
    assert len(list(await lag(hosted, answers, GROUP))) == 2
    with pytest.raises(NotFoundError, match="no entry of `groups` matches it"):
        await lag(hosted, answers, "audit")


async def test_a_backend_that_does_not_answer(hosted: HostedGroups, autojump_clock: MockClock) -> None:
    """The reason is said, after 8 s at most."""
    with pytest.raises(BackendError, match=r"^kproxy cannot ask the brokers: no broker answers$"):
        await lag(hosted, refuses, GROUP)
    began = autojump_clock.current_time()
    with pytest.raises(BackendError, match="the brokers did not say the offsets within 8 s"):
        await lag(hosted, hangs, GROUP)
    assert autojump_clock.current_time() - began == 8
