# This module is pure (no I/O, no clock).
"""What the looks at an upstream cluster have shown, and what stands against it as the target of a failover.

`Upstream` has one. Each look of its watcher is noted there; readiness, the admin port and the automatic failover ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from kproxy.topology.reachability import Reachability, observed
from kproxy.topology.snapshot import Snapshot, another_cluster

INTERVALS: Final = 2.0
"""How many intervals old a look may be and still count as recent; one alone is stretched by jitter."""
SLACK: Final = 30.0
"""Seconds that a look may take beyond that: one of many nodes that hang does."""
TRUSTED: Final = 3
"""Looks in a row that must show another cluster id before it counts as the cluster's own."""
NAMED: Final = 10
"""Nodes that an objection names: a cluster may have thousands."""
TOLD_SECONDS: Final = 3600.0
"""How long a change of the cluster id stays an objection."""


class Look(NamedTuple):
    """One look at an upstream cluster: `seen` is how it describes itself; without an answer `error` says why.

    `own`: the failure is kproxy's own, and says nothing about the cluster. `silent`: the ids of its nodes that did not
    answer when last probed. `at` is on the clock of `now`.
    """

    at: float
    seen: Snapshot | None = None
    error: str | None = None
    own: bool = False
    silent: tuple[int, ...] = ()


class Replaced(NamedTuple):
    """Another cluster answers where one was before: their ids, and when it was first seen."""

    before: str
    after: str
    at: float


class Objection(NamedTuple):
    """What stands against an upstream cluster; an automatic failover goes there all the same unless `forbids`."""

    why: str
    forbids: bool = True


class Standing:
    """What is known of one upstream cluster. Times are in seconds on the clock of `now`."""

    __slots__ = ("_in_a_row", "_trusted_id", "answered_at", "cluster_id", "lacking", "last", "reachability", "replaced")

    def __init__(self) -> None:
        self.last: Look | None = None
        """The last look; None before the first."""
        self.reachability: Reachability | None = None
        """Whether it answers and since when, leaving out looks that failed by kproxy's own fault."""
        self.answered_at: float | None = None
        """When it last answered."""
        self.cluster_id: str | None = None
        """The id that it last gave."""
        self.replaced: Replaced | None = None
        """The last change of its id."""
        self.lacking: Mapping[int, str] = MappingProxyType({})
        """Its nodes that would have no port here, and why."""
        self._in_a_row = 0
        self._trusted_id: str | None = None

    def note(self, look: Look, lacking: Mapping[int, str]) -> Replaced | None:
        """Note a look; return what it confirms: that another cluster is there for good, once for each."""
        self.last = look
        if not look.own:
            self.reachability = observed(self.reachability, look.error, look.at)
        if look.error is not None or look.seen is None:
            return None
        self.answered_at, self.lacking = look.at, lacking
        return self._identify(look.seen.cluster_id, look.at)

    def _identify(self, cluster_id: str | None, at: float) -> Replaced | None:
        if cluster_id is None:
            return None
        known, self.cluster_id = self.cluster_id, cluster_id
        if known is not None and known != cluster_id:
            self.replaced, self._in_a_row = Replaced(known, cluster_id, at), 0
        self._in_a_row += 1
        if self.is_doubtful:
            return None
        trusted, self._trusted_id = self._trusted_id, cluster_id
        changed = self.replaced if another_cluster(trusted, cluster_id) else None
        return None if changed is None or trusted is None else changed._replace(before=trusted)

    @property
    def is_doubtful(self) -> bool:
        """True while its cluster id has changed, and too few looks have shown the new one since."""
        return self.replaced is not None and self._in_a_row < TRUSTED

    @property
    def answers(self) -> bool:
        """True when the last look brought an answer."""
        return self.last is not None and self.last.error is None

    def objections(self, now: float, interval: float, active_id: str | None) -> Iterator[Objection]:
        """Yield what stands against it; it is looked at each `interval`. `active_id` is the active cluster's."""
        last = self.last
        if last is None:
            yield Objection("it was not looked at yet")
        elif last.own:
            yield Objection(f"kproxy cannot look at it: {last.error}")
        elif last.error is not None:
            yield Objection(f"it does not answer: {last.error}")
        elif now - last.at > INTERVALS * interval + SLACK:
            yield Objection(f"it was last looked at {now - last.at:.0f} s ago")
        else:
            yield from self._silent(last)
            if self.lacking:
                yield Objection(_listed("; ", list(self.lacking.values())))
            yield from self._identity(now, active_id)

    @staticmethod
    def _silent(last: Look) -> Iterator[Objection]:
        if last.silent:
            ids = _listed(", ", list(map(str, last.silent)))
            all_of_them = last.seen is not None and last.seen.nodes.keys() <= set(last.silent)
            what = "none of its nodes answers" if all_of_them else "some of its nodes do not answer"
            yield Objection(f"{what}: {ids}", forbids=all_of_them)

    def _identity(self, now: float, active_id: str | None) -> Iterator[Objection]:
        changed = self.replaced
        if changed is not None and (self.is_doubtful or now - changed.at < TOLD_SECONDS):
            why = f"its cluster id has changed from {changed.before} to {changed.after}"
            yield Objection(why, forbids=self.is_doubtful)
        if active_id is not None and active_id == self.cluster_id:
            yield Objection(f"it is the active Kafka cluster itself, by its id {active_id}", forbids=False)


def _listed(between: str, nodes: Sequence[str]) -> str:
    """Return the first nodes in one line, and how many more there are."""
    more = [f"{len(nodes) - NAMED} more"] * (len(nodes) > NAMED)
    return between.join([*nodes[:NAMED], *more])
