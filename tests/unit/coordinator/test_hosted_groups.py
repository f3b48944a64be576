"""kproxy.coordinator.hosted_groups and store_journal: groups at work, with a real store and Trio's clock."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from kproxy.config import GroupRule
from kproxy.coordinator import store_journal
from kproxy.coordinator.hosted_groups import HostedGroups
from kproxy.coordinator.messages import Join, Joined, Leaving, Sync, Synced
from kproxy.coordinator.states import GroupState
from kproxy.observe.events import GroupTransition
from kproxy.observe.troubles import Troubles, Where
from kproxy.state.sqlite import SqliteStore
from kproxy.state.store import MemoryStore, StateError, Store
from kproxy.wire.generated.error_codes import ErrorCode

RULES = (GroupRule(match="orders-.*", initial_rebalance_delay=1.0),)
GROUP = "orders-1"


class Hosted:
    """Hosted groups, and what they report."""

    def __init__(self, rules: Sequence[GroupRule] = RULES) -> None:
        self.events: list[GroupTransition] = []
        self.troubles = Troubles()
        self.groups = HostedGroups("main", rules, "clusters.0", self.events.append, self.troubles)

    def join(
        self, member_id: str = "", group_id: str = GROUP, answer: Callable[[Joined], None] | None = None
    ) -> list[Joined]:
        """Join; the list has the answer once it is there, unless it is given to `answer`."""
        answers: list[Joined] = []
        said = Join(group_id, member_id, None, "app", "/h", 10, 60, "consumer", (("range", b"m"),), False)
        with self.groups.acting() as now:
            self.groups.coordinator.join(said, answer or answers.append, now)
        return answers

    def sync(self, joined: Joined, group_id: str = GROUP) -> list[Synced]:
        """Sync as the leader; as `join`."""
        answers: list[Synced] = []
        assignments = {one.member_id: b"mine" for one in joined.members}
        with self.groups.acting() as now:
            said = Sync(group_id, joined.member_id, None, joined.generation, assignments=assignments)
            self.groups.coordinator.sync(said, answers.append, now)
        return answers

    def heartbeat(self, joined: Joined) -> int:
        """The error of a heartbeat."""
        with self.groups.acting() as now:
            return self.groups.coordinator.heartbeat(GROUP, joined.member_id, None, joined.generation, now)


@asynccontextmanager
async def running(store: Store, rules: Sequence[GroupRule] = RULES) -> AsyncIterator[Hosted]:
    """Hosted groups at work over a store."""
    hosted = Hosted(rules)
    async with trio.open_nursery() as work:
        await hosted.groups.remember(store, work)
        work.start_soon(hosted.groups.run)
        yield hosted
        work.cancel_scope.cancel()


async def until(answers: Sequence[object]) -> None:
    """Wait for an answer."""
    for _ in range(600):
        if answers:
            return
        await trio.sleep(0.05)
    raise AssertionError("no answer within 30 s")


async def stable(hosted: Hosted) -> Joined:
    """Have one member join and get its assignment."""
    joined = hosted.join()
    await until(joined)
    synced = hosted.sync(joined[0])
    await until(synced)
    assert synced[0].assignment == b"mine"
    return joined[0]


async def test_timers_are_called(autojump_clock: MockClock) -> None:
    """The initial delay ends, and so does a session that nobody keeps alive; each is told as an event, and counted."""
    del autojump_clock
    async with running(MemoryStore()) as hosted:
        await stable(hosted)
        assert hosted.groups.coordinator.groups[GROUP].state is GroupState.STABLE
        await trio.sleep(11)
        assert hosted.groups.coordinator.groups[GROUP].state is GroupState.EMPTY
        told = [(event.previous_state, event.state, event.cause, event.client_id) for event in hosted.events]
        assert told == [
            ("Empty", "PreparingRebalance", "member_joined", "app"),
            ("PreparingRebalance", "CompletingRebalance", "all_joined", None),
            ("CompletingRebalance", "Stable", "assigned", None),
            ("Stable", "PreparingRebalance", "session_timeout", "app"),
            ("PreparingRebalance", "Empty", "all_joined", None),
        ]
        assert hosted.events[2].seconds == 0
        counters = hosted.groups.counters
        assert (counters.states(), counters.members()) == ({"Empty": 1}, 0)
        assert sum(counters.rebalances.counts) == sum(counters.assignments.counts) == 1
        assert counters.moves["Stable", "assigned"] == 1
        await trio.sleep(601)
        assert hosted.groups.coordinator.groups == {}


async def test_a_late_heartbeat_is_counted(autojump_clock: MockClock) -> None:
    """One in the last third of the session."""
    del autojump_clock
    async with running(MemoryStore()) as hosted:
        joined = await stable(hosted)
        for seconds in (6, 8):
            await trio.sleep(seconds)
            assert hosted.heartbeat(joined) == ErrorCode.NONE
        assert hosted.groups.counters.late_heartbeats == 1


async def test_a_restart_goes_on(tmp_path: Path) -> None:
    """From the file: the member is still one, in its generation, and gets its assignment."""
    store = await SqliteStore.open(tmp_path / "state.db")
    async with running(store) as hosted:
        joined = await stable(hosted)
        assert sum(hosted.groups.counters.store.counts) == 2
    await store.close()
    store = await SqliteStore.open(tmp_path / "state.db")
    async with running(store) as again:
        assert again.heartbeat(joined) == ErrorCode.NONE
        assert again.sync(joined)[0].assignment == b"mine"
        assert again.events == []
        with again.groups.acting() as now:
            assert list(again.groups.coordinator.leave(GROUP, [Leaving(joined.member_id, None)], now)) == [0]
    await store.close()


async def test_not_ready_before_the_store_is_read() -> None:
    """Requests are answered to ask again (14)."""
    assert Hosted().join()[0].error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


class Failing(MemoryStore):
    """A store that fails, or hangs, while the test says so; it outlives the process as a file would."""

    def __init__(self) -> None:
        super().__init__()
        self.fails = self.hangs = False

    async def put(self, table: str, key: str, value: bytes) -> None:
        if self.hangs:
            await trio.sleep_forever()
        if self.fails:
            raise StateError("the disk is full; make room")
        await super().put(table, key, value)


async def test_a_store_that_fails(autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Members are answered to try again (15), and are stable once it can be written; so where it only hangs."""
    del autojump_clock
    monkeypatch.setattr("kproxy.coordinator.hosted_groups.MemoryStore", SqliteStore)
    store = Failing()
    async with running(store) as hosted:
        for trouble in ("fails", "hangs"):
            setattr(store, trouble, True)
            joined = hosted.join()
            await until(joined)
            assert joined[0].error == ErrorCode.COORDINATOR_NOT_AVAILABLE
            setattr(store, trouble, False)
            again = hosted.join(joined[0].member_id)
            await until(again)
            synced = hosted.sync(again[0])
            await until(synced)
            assert synced[0].assignment == b"mine"
            await trio.sleep(store_journal.WRITE_SECONDS + 20)
            assert hosted.groups.coordinator.groups[GROUP].state is GroupState.EMPTY


@pytest.mark.parametrize(("store", "where"), [(MemoryStore(), Where.GROUPS), (Failing(), Where.STATE)])
async def test_a_fault_of_one_group_is_its_own(
    store: Store, where: Where, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that raises, from a timer or from the store, keeps no other group waiting."""
    del autojump_clock
    if isinstance(store, Failing):  # it outlives the process
        monkeypatch.setattr("kproxy.coordinator.hosted_groups.MemoryStore", SqliteStore)

    def refuse(answer: object) -> None:
        raise ValueError(answer)

    async with running(store) as hosted:
        hosted.join(answer=refuse)
        others = [hosted.join(group_id=group_id) for group_id in ("orders-2", "orders-3")]
        for answers in others:
            await until(answers)
            assert answers[0].error == ErrorCode.NONE
        assert hosted.troubles.errors[where.value] == 1


async def test_a_fault_of_one_answer_is_its_own() -> None:
    """It ends with its block, and is reported."""
    async with running(MemoryStore()) as hosted:
        with hosted.groups.contained():
            raise ValueError("an answer that cannot be made")
        assert hosted.troubles.errors[Where.GROUPS.value] == 1


async def test_sent_away(autojump_clock: MockClock) -> None:
    """Who waits is answered 16 and stays a member; when kproxy is to end, nobody is served any more."""
    del autojump_clock
    async with running(MemoryStore()) as hosted:
        joined = await stable(hosted)
        waits = hosted.join(joined.member_id)
        assert waits
        other = hosted.join(group_id="orders-2")
        hosted.groups.send_away()
        assert other[0].error == ErrorCode.NOT_COORDINATOR
        assert joined.member_id in hosted.groups.coordinator.groups[GROUP].members
        hosted.groups.send_away(for_good=True)
        assert hosted.heartbeat(joined) == ErrorCode.NOT_COORDINATOR


async def test_a_long_drain(autojump_clock: MockClock) -> None:
    """Who cannot be heard of any more is not missed: the restarted process is to find each member."""
    async with running(MemoryStore()) as hosted:
        joined = await stable(hosted)
        hosted.groups.send_away(for_good=True)
        await trio.sleep(600)
        group = hosted.groups.coordinator.groups[GROUP]
        assert (group.generation, list(group.members)) == (joined.generation, [joined.member_id])


async def test_other_rules(autojump_clock: MockClock) -> None:
    """Live groups that no rule matches are given up; the others have the new settings."""
    del autojump_clock
    async with running(MemoryStore()) as hosted:
        await stable(hosted)
        waits = hosted.join(group_id="orders-2")
        hosted.groups.reconfigure([GroupRule(match="orders-1", max_members=7)])
        assert waits[0].error == ErrorCode.UNKNOWN_MEMBER_ID
        assert list(hosted.groups.coordinator.groups) == [GROUP]
        assert hosted.groups.coordinator.groups[GROUP].settings.max_members == 7
        assert (hosted.groups.hosts("orders-1"), hosted.groups.hosts("orders-2")) == (True, False)
        hosted.groups.reconfigure([GroupRule(match="orders-1")])


async def test_other_rules_after_a_restart(tmp_path: Path) -> None:
    """Groups that are not hosted any more are their broker's: nothing of them is left."""
    store = await SqliteStore.open(tmp_path / "state.db")
    async with running(store) as hosted:
        await stable(hosted)
    async with running(store, [GroupRule(match="others-.*")]) as hosted:
        assert list(hosted.groups.coordinator.groups) == []
        await trio.sleep(0.5)
        assert not await store.items("groups/main")
    async with running(store) as hosted:
        assert list(hosted.groups.coordinator.groups) == []
    await store.close()
