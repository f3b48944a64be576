"""At which Kafka clusters a virtual cluster's clients have been, and how often they were moved.

Producer ids depend on it: see `kproxy.producers.producer_ids`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import structlog
from pydantic import TypeAdapter, ValidationError

from kproxy.state.store import keep

if TYPE_CHECKING:
    from kproxy.state.store import Store

STAYS: Final = "stays"
"""The table of `FailoverRecord` as JSON, by virtual cluster."""

log = structlog.get_logger("kproxy.cluster")


@dataclass(frozen=True, slots=True)
class FailoverRecord:
    """The time from one move to another Kafka cluster to the next.

    `failovers` are the moves before it. `cluster` is Kafka's id of the present cluster; as long as that is not known,
    the upstream's name stands for it. `returned` when clients had been there before; `visited` are all clusters where
    they were. `separates` once producer ids have had their cluster in them.
    """

    failovers: int = 0
    cluster: str = ""
    returned: bool = False
    visited: tuple[str, ...] = ()
    separates: bool = False

    def at(self, cluster: str) -> FailoverRecord:
        """The stay at this cluster: the same one, if clients are there already."""
        if cluster == self.cluster:
            return self
        returned = cluster in self.visited
        visited = self.visited if returned else (*self.visited, cluster)
        return replace(self, failovers=self.failovers + 1, cluster=cluster, returned=returned, visited=visited)

    def named(self, cluster: str) -> FailoverRecord:
        """The same stay, now that the cluster has a name, or tells its id."""
        others = tuple(one for one in self.visited if one != self.cluster)
        returned = self.returned or cluster in others
        return replace(self, cluster=cluster, returned=returned, visited=tuple(dict.fromkeys((*others, cluster))))


_KEPT: Final = TypeAdapter(FailoverRecord)


class FailoverHistory:
    """Of one virtual cluster; `record` is the present one.

    Without a `state.path` a restart counts from 0.
    """

    def __init__(self, cluster: str) -> None:
        self.record = FailoverRecord()
        self._cluster = cluster

    async def remember(self, store: Store) -> None:
        """Go on as before a restart; begin anew where nothing is kept. Raises `StateError`."""
        self.record = FailoverRecord()
        if kept := await store.get(STAYS, self._cluster):
            try:
                self.record = _KEPT.validate_json(kept)
            except ValidationError:  # of another version of kproxy
                log.error("failovers are counted anew: what was kept cannot be read", cluster=self._cluster)

    def see(self, cluster_id: str | None, upstream: str, *, separates: bool, moved: bool = False) -> bool:
        """Where clients are: at this Kafka cluster, None where it is not known, by that upstream.

        `separates`: producer ids have their cluster in them from now on. `moved`: they were sent there, so an unknown
        cluster is another one. Returns whether anything has changed.
        """
        before, name = self.record, f"upstream {upstream}"
        if not before.cluster or (before.cluster == name and not moved):
            stay = before.named(cluster_id or name)
        else:
            stay = before.at(cluster_id or name) if cluster_id or moved else before
        self.record = replace(stay, separates=stay.separates or separates)
        return self.record != before

    async def keep(self, store: Store) -> None:
        """Have a restart go on from here."""
        await keep(store, STAYS, self._cluster, _KEPT.dump_json(self.record))
