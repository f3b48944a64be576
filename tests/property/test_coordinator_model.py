"""Any schedule of consumers, deaths, pauses, slow and failing writes, and restarts against the pure coordinator.

Of no generation two members own a partition; every live consumer is stable in bounded time; every request is answered
once; generations do not go back; assignments that were kept are given out again after a restart.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kproxy.coordinator.group import Group
from kproxy.coordinator.messages import Protocols, Sync, Synced
from kproxy.coordinator.records import GroupRecord
from kproxy.coordinator.settings import GroupSettings
from kproxy.coordinator.states import GroupState
from tests.property.group_consumers import PARTITIONS, Consumer, Phase, Request
from tests.support.violation import never
from tests.unit.coordinator.world import Parked, World

SESSION, REBALANCE, DELAY = 10.0, 30.0, 3.0
BOUND = int(2 * (SESSION + REBALANCE))
"""Seconds in which every live consumer is stable: who is dead is waited for twice at most, to join and to sync."""
PROTOCOLS: Sequence[Protocols] = [
    (("range", b"a"),),
    (("range", b"b"),),
    (("range", b"a"), ("sticky", b"a")),
    (("sticky", b"a"), ("range", b"a")),
    (("sticky", b"a"),),
]
FIRST, RANDOM = GroupSettings(DELAY), GroupSettings(DELAY, leader="random")
INDEX = st.integers(0, 7)
KIND = st.sampled_from(["new", "new", "old", "i", "j"])
AFTER = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 5, 11, 31])
"""Seconds that pass between one disturbance and the next."""


class Groups(RuleBasedStateMachine):
    """One group, its consumers, and what they were told."""

    @initialize(leader=st.sampled_from([FIRST, RANDOM]), kinds=st.lists(KIND, max_size=5))
    def begin(self, leader: GroupSettings, kinds: list[str]) -> None:
        self.world = World(leader)
        self.consumers: list[Consumer] = []
        self.requests: list[Request] = []
        self.deaths = 0
        """How often the group was forgotten, after which its generations begin anew."""
        self.given: dict[tuple[int, int], dict[str, bytes]] = {}
        """By deaths and generation, the assignments that consumers have got, by slot."""
        self.answered = 0
        """The highest generation that a consumer was told of."""
        self.seen: tuple[Group | None, int] = (None, 0)
        self.latency = self.ticks = 0
        for kind in kinds:
            self.start(kind, PROTOCOLS[0], 0, steady=True)
        self.live(1 + int(DELAY) * len(kinds), 0, 4)

    def _alive(self) -> list[Consumer]:
        return [each for each in self.consumers if each.phase is not Phase.GONE]

    def _some(self, index: int) -> Consumer:
        alive = self._alive()
        return alive[index % len(alive)]

    def has_consumers(self) -> bool:
        return bool(self._alive())

    @rule(kind=KIND, protocols=st.sampled_from(PROTOCOLS), after=AFTER, steady=st.booleans())
    def start(self, kind: str, protocols: Protocols, after: int, *, steady: bool) -> None:
        """A consumer starts; of a static one an earlier process may be dead, or still there."""
        if len(self._alive()) == 8:
            return
        instance_id = kind if kind in ("i", "j") else None
        consumer = Consumer(self.world, "c", instance_id, protocols, SESSION, REBALANCE)
        consumer.steady = steady
        consumer.needs_member_id = consumer.skips_assignment = kind != "old"
        consumer.sent, consumer.told, consumer.got = self.requests.append, self.note_generation, self.note_assignment
        self.consumers.append(consumer)
        consumer.act()
        self._live(after)

    def note_generation(self, generation: int) -> None:
        """Note what a consumer was told of; it is kept, so that a restart does not go back behind it."""
        group = self.world.coordinator.groups.get("g")
        if group is not None and generation <= group.generation:  # else the group was forgotten meanwhile
            assert generation <= self.world.journal.kept["g"].generation
            self.answered = max(self.answered, generation)

    def note_assignment(self, consumer: Consumer) -> None:
        """Note an assignment: there is one, it does not change, and nobody else has any of it in this generation."""
        given = self.given.setdefault((self.deaths, consumer.generation), {})
        assert consumer.assignment
        assert given.setdefault(consumer.slot, consumer.assignment) == consumer.assignment
        partitions = b"".join(given.values())
        never(len(partitions) != len(set(partitions)), f"a partition has two owners: {given}")

    @precondition(has_consumers)
    @rule(index=INDEX, silently=st.booleans(), after=AFTER)
    def end(self, index: int, silently: bool, after: int) -> None:
        """A consumer dies without a word, or leaves the group."""
        consumer = self._some(index)
        if not silently:
            consumer.leave()
        consumer.phase = Phase.GONE
        self._live(after)

    @precondition(has_consumers)
    @rule(index=INDEX, protocols=st.sampled_from(PROTOCOLS), after=AFTER)
    def change(self, index: int, protocols: Protocols, after: int) -> None:
        """It joins with other metadata or protocols, or with the same."""
        consumer = self._some(index)
        consumer.protocols = protocols
        consumer.rejoin()
        consumer.act()
        self._live(after)

    @precondition(has_consumers)
    @rule(index=INDEX, after=AFTER)
    def pause_or_go_on(self, index: int, after: int) -> None:
        """It stands still, for longer than its session perhaps."""
        consumer = self._some(index)
        consumer.paused = not consumer.paused
        self._live(after)

    @precondition(has_consumers)
    @rule(index=INDEX, times=st.integers(1, 4))
    def hurry(self, index: int, times: int) -> None:
        """One consumer is quicker than the others."""
        consumer = self._some(index)
        for _ in range(times):
            consumer.act()

    @rule(after=AFTER)
    def lose_connections(self, after: int) -> None:
        """All send their requests again, and the answers to the first ones are lost."""
        for consumer in self._alive():
            consumer.reconnect()
        self._live(after)

    @rule(seconds=AFTER, turn=INDEX, pace=st.integers(1, 4))
    def live(self, seconds: int, turn: int, pace: int) -> None:
        """Time passes; consumers act in some order, so many times a second."""
        for _ in range(seconds):
            self._tick(turn, pace)

    def _live(self, seconds: int) -> None:
        self.live(seconds, 0, 1)

    def _tick(self, turn: int = 0, pace: int = 4) -> None:
        for _ in range(pace):
            alive = self._alive()
            for consumer in alive[turn:] + alive[:turn]:
                consumer.act()
        self.world.wait(1.0)
        self.ticks += 1
        if self.latency and self.ticks % self.latency == 0:
            self.world.journal.finish(self.world.now)
        self._note_deaths()

    def _note_deaths(self) -> None:
        deaths = sum(move.after is GroupState.DEAD for move in self.world.moves)
        if deaths != self.deaths:
            self.deaths, self.answered = deaths, 0

    @rule(latency=st.sampled_from([0, 1, 2, 5, 15]), failure=st.sampled_from([None, None, "disk full"]), after=AFTER)
    def write(self, latency: int, failure: str | None, after: int) -> None:
        """The journal ends all its writes every so many seconds from now on, or each one at once; they may fail."""
        self.world.finish(failure)
        self.latency = latency
        self.world.journal.holds, self.world.journal.failure = latency > 0, failure
        self._live(after)

    @rule(failure=st.sampled_from([None, None, "disk full"]))
    def end_a_write(self, failure: str | None) -> None:
        """The oldest write ends."""
        self.world.finish(failure, min(1, self.world.journal.waiting))

    @rule(after=AFTER)
    def restart(self, after: int) -> None:
        """A crash: connections and unfinished writes are lost. What was kept is what any client may have been told."""
        kept = self.world.journal.kept.get("g")
        self.world.restart()
        self.requests.clear()
        assert (0 if kept is None else kept.generation) >= self.answered
        if kept is not None and kept.assigned:
            self._check_restored(kept)
        self.lose_connections(after)

    def _check_restored(self, kept: GroupRecord) -> None:
        """Each member gets what it had, or would have got, without a rebalance."""
        given = self.given.get((self.deaths, kept.generation), {})
        for record in kept.members:
            synced: Parked[Synced] = Parked(lambda _: None)
            said = Sync("g", record.id, record.instance_id, kept.generation)
            self.world.coordinator.sync(said, synced, self.world.now)
            assert (synced.error, synced.answer.assignment) == (0, record.assignment)
            assert given.get(record.instance_id or record.id, record.assignment) == record.assignment
        assert (self.world.state, self.world.group.generation) == (GroupState.STABLE, kept.generation)

    def settle(self) -> None:
        """Nothing disturbs the group any more: all live consumers are stable in time, and stay so."""
        self.write(0, None, 0)
        for consumer in self._alive():
            consumer.paused = False
        for _ in range(BOUND):
            self._tick()
        live, generation = self._alive(), self._stable()
        for _ in range(int(REBALANCE)):
            self._tick()
        assert (self._alive(), self._stable()) == (live, generation)
        assert not any(each.waits for each in self.requests), "of dead consumers, too"

    def _stable(self) -> int:
        """Return the generation; every partition belongs to one live consumer, and nobody else is in the group."""
        live, group = self._alive(), self.world.coordinator.groups.get("g")
        if not live:
            assert group is None or group.state is GroupState.EMPTY
            return 0
        assert group is not None
        assert (group.state, set(group.members)) == (GroupState.STABLE, {each.member_id for each in live})
        assert {(each.phase, each.generation) for each in live} == {(Phase.STABLE, group.generation)}
        assert sorted(b"".join(each.assignment for each in live)) == list(range(PARTITIONS))
        return group.generation

    def teardown(self) -> None:
        """Whatever has happened, the group can be settled."""
        if hasattr(self, "world"):
            self.settle()

    @invariant()
    def generations_do_not_go_back(self) -> None:
        """Of one group of one process."""
        self._note_deaths()
        group = self.world.coordinator.groups.get("g")
        before, generation = self.seen
        if group is not None:
            assert group is not before or group.generation >= generation
            self.seen = group, group.generation

    @invariant()
    def the_group_is_consistent(self) -> None:
        """Its parts name members only, and a protocol that all can use is left."""
        group = self.world.coordinator.groups.get("g")
        if group is None:
            return
        members = set(group.members)
        assert members >= set(group.rejoined) | group.not_synced | set(group.static.values()) | set(
            filter(None, [group.leader])
        )
        assert all(group.members[each].join is not None for each in group.rejoined)
        assert not members & set(group.pending)
        assert (group.state in (GroupState.EMPTY, GroupState.PREPARING)) or members
        assert not members or group.candidates()


TestGroups = Groups.TestCase
TestGroups.settings = settings(max_examples=150, stateful_step_count=50)
