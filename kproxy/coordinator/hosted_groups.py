"""The hosted groups of one virtual cluster at work: which groups they are, their timers, and where they are kept.

`Cluster` makes one where `groups` is configured, and runs it. The policies take each request to its `coordinator`.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Final

import structlog
import trio

from kproxy.coordinator.coordinator import Coordinator
from kproxy.coordinator.group import Group
from kproxy.coordinator.journal import Forgetful, Journal
from kproxy.coordinator.policies import policies
from kproxy.coordinator.rebalance import Move, Rebalance
from kproxy.coordinator.records import decode
from kproxy.coordinator.rules import GroupRules
from kproxy.coordinator.settings import GroupSettings
from kproxy.coordinator.states import GroupState
from kproxy.coordinator.store_journal import StoreJournal
from kproxy.coordinator.timers import Timers
from kproxy.observe.events import GroupTransition
from kproxy.observe.faults import boundary
from kproxy.observe.group_counters import GroupCounters
from kproxy.observe.troubles import LogLimit, Troubles, Where
from kproxy.state.restore import restored
from kproxy.state.store import MemoryStore
from kproxy.wire.generated.error_codes import ErrorCode

if TYPE_CHECKING:
    from kproxy.config.groups import GroupRule
    from kproxy.protocol.api_table import ApiPolicy
    from kproxy.state.store import Store

_NEVER: Final = float("inf")
_NAMED: Final = 20
"""The most groups that a log line names."""

log = structlog.get_logger("kproxy.coordinator")


class HostedGroups:
    """Answers the requests of the groups that match a rule; `remember`, then `run` it."""

    def __init__(
        self,
        cluster: str,
        rules: Sequence[GroupRule],
        key: str,
        record: Callable[[GroupTransition], None],
        troubles: Troubles,
    ) -> None:
        """`key` is the virtual cluster's in the configuration; raises `ConfigError` for a pattern that is no regex."""
        self._table = f"groups/{cluster}"
        self._key = key
        self._rules = GroupRules(rules, key)
        self.counters = GroupCounters()
        self._record = record
        self._troubles = troubles
        self._clashes = LogLimit()
        self._timers = Timers()
        self._woken = trio.Event()
        self._due = _NEVER
        self._rebalance = Rebalance(self._timers, Forgetful(), self, random.choice)
        self.coordinator = Coordinator(self._rebalance, self._settings_of, lambda: str(uuid.uuid4()))
        self.coordinator.refuses = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        self.counters.groups = self.coordinator.groups
        self.policies: Mapping[int, ApiPolicy] = policies(self)

    async def remember(self, store: Store, work: trio.Nursery) -> None:
        """Go on with the groups of before a restart, where the store has survived one; raises `StateError`."""
        if not isinstance(store, MemoryStore):
            journal: Journal = StoreJournal(store, self._table, work, self._troubles, self._acted)
            self._rebalance.journal = journal
            records = await restored(store, self._table, decode)
            self.coordinator.restore(records.values(), trio.current_time())
            self.coordinator.commits_wait = bool(records)
            self._abandon()  # other rules may hold than before the restart
        self.coordinator.refuses = ErrorCode.NONE

    def hosts(self, group_id: str) -> bool:
        """Return whether a group is hosted here; all others are their broker's."""
        return self._rules.settings_of(group_id) is not None

    def _settings_of(self, group_id: str) -> GroupSettings:
        return self._rules.settings_of(group_id) or GroupSettings()

    @property
    def now(self) -> float:
        """As `Hosting`."""
        return trio.current_time()

    @contextmanager
    def acting(self) -> Iterator[float]:
        """Give the time to a block that calls the coordinator, then see to the timers that it has set."""
        yield self.now
        self._acted()

    def clash(self, group_id: str, refused: str) -> None:
        """Report that a client was refused, since the group has members of another protocol."""
        left_out = self._clashes.due(refused, trio.current_time())
        if left_out is not None:
            log.warning(
                "a group has members of another protocol: a client that wants to be one, too, was refused; stop the "
                "members of one kind, or give one kind another group id (docs/groups.md)",
                group=group_id,
                refused=refused,
                left_out=left_out,
            )

    def contained(self) -> AbstractContextManager[None, bool]:
        """End a block at a fault in it, which is reported: one member's answer is no concern of the others."""
        return boundary(self._troubles, Where.GROUPS)

    def _acted(self) -> None:
        due = self._timers.next
        if due is not None and due < self._due:
            self._woken.set()

    async def run(self) -> None:
        """Call what is due, for ever."""
        while True:
            self._woken = trio.Event()
            due = self._timers.next
            self._due = _NEVER if due is None else due
            with trio.move_on_at(self._due):
                await self._woken.wait()
            # All are sent away for good: nobody can be heard of here any more, so nobody is missed.
            if self.coordinator.refuses == ErrorCode.NOT_COORDINATOR:
                await trio.sleep_forever()
            with boundary(self._troubles, Where.GROUPS):  # of one group, so that the others' timers are called
                self._timers.fire(trio.current_time())

    def arrive(self, *, elsewhere: bool) -> None:
        """Take commits from now on: the Kafka cluster has shown itself, and whether it is another one than before."""
        if elsewhere and self.coordinator.groups:
            log.warning("hosted groups came to another Kafka cluster: members join again and fetch their offsets there")
            self.change_cluster()
        self.coordinator.commits_wait = False

    def change_cluster(self) -> None:
        """Have all members find the coordinator at another Kafka cluster, and fetch their offsets there."""
        self.coordinator.commits_wait = False
        with self.acting() as now:
            self.coordinator.change_cluster(now)

    def send_away(self, *, for_good: bool = False) -> None:
        """Have all clients whose requests wait look for the coordinator again; members stay members.

        `for_good`: kproxy is to end, so whoever asks from now on is sent away too, and no session ends.
        """
        if for_good:
            self.coordinator.refuses = ErrorCode.NOT_COORDINATOR
        with self.acting() as now:
            self.coordinator.send_away(ErrorCode.NOT_COORDINATOR, now)

    def reconfigure(self, rules: Sequence[GroupRule]) -> None:
        """Apply other rules. Live groups that no rule matches any more are their brokers' from now on."""
        self._rules = GroupRules(rules, self._key)
        self._abandon()
        self.coordinator.adopt()

    def _abandon(self) -> None:
        """Forget the groups that are not hosted any more."""
        gone = [group_id for group_id in self.coordinator.groups if not self.hosts(group_id)]
        if gone:
            some = gone[:_NAMED]
            log.warning(
                "groups are no longer hosted: their members join again at a broker", groups=some, count=len(gone)
            )
        with self.acting() as now:
            self.coordinator.abandon(gone, now)

    def moved(self, group: Group, move: Move) -> None:
        """Count and report that a group went to another state."""
        self.counters.moves[group.state, move.cause] += 1
        if group.state is GroupState.STABLE:
            self.counters.rebalances.observe(move.unrest)
            self.counters.assignments.observe(move.seconds)
        self._record(
            GroupTransition(
                group=group.id,
                generation=group.generation,
                previous_state=str(move.before),
                state=str(group.state),
                cause=str(move.cause),
                client_id=None if move.member is None else move.member.client_id,
                members=len(group.members),
                waited_for=tuple(member.client_id for member in move.waited_for),
                seconds=round(move.seconds, 3),
            )
        )

    def stored(self, seconds: float) -> None:
        """Count how long members have waited for the store."""
        self.counters.store.observe(seconds)

    def late(self) -> None:
        """Count a heartbeat that nearly came too late."""
        self.counters.late_heartbeats += 1
