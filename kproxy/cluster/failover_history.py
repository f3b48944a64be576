"""Remembers the Kafka clusters that a virtual cluster's clients have been at, and counts their moves.

`Cluster` restores it at start, and adds to it whenever clients may have come to another Kafka cluster.

Producer ids depend on it: see `kproxy.producers.producer_ids`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import structlog
from pydantic import TypeAdapter

from kproxy.state.restore import restored_value
from kproxy.state.store import keep

if TYPE_CHECKING:
    from kproxy.state.store import Store

STAYS: Final = "stays"
"""The state store's table of `FailoverRecord`s as JSON, by virtual cluster."""

log = structlog.get_logger("kproxy.cluster")


@dataclass(frozen=True, slots=True)
class FailoverRecord:
    """The clients' stay at one Kafka cluster, from one move to the next.

    `failovers`: the moves before this stay. `cluster`: Kafka's id of the cluster, or the upstream's name while the id
    is not known. `returned`: clients had been there before. `visited`: all clusters where they were. `separates`:
    producer ids have had their cluster in them at some time.
    """

    failovers: int = 0
    cluster: str = ""
    returned: bool = False
    visited: tuple[str, ...] = ()
    separates: bool = False

    def at(self, cluster: str) -> FailoverRecord:
        """Return the stay at this cluster: the present one, if clients are there already."""
        if cluster == self.cluster:
            return self
        returned = cluster in self.visited
        visited = self.visited if returned else (*self.visited, cluster)
        return replace(self, failovers=self.failovers + 1, cluster=cluster, returned=returned, visited=visited)

    def named(self, cluster: str) -> FailoverRecord:
        """Return the same stay under the cluster's name or id, now that it is known."""
        others = tuple(one for one in self.visited if one != self.cluster)
        returned = self.returned or cluster in others
        return replace(self, cluster=cluster, returned=returned, visited=tuple(dict.fromkeys((*others, cluster))))


_KEPT: Final = TypeAdapter(FailoverRecord)


class FailoverHistory:
    """The moves of one virtual cluster's clients; `record` is the present stay.

    Without a `state.path` a restart counts from 0.
    """

    def __init__(self, cluster: str) -> None:
        self.record = FailoverRecord()
        self._cluster = cluster

    async def remember(self, store: Store) -> None:
        """Restore the record from before a restart; begin anew where none is kept. Raises `StateError`."""
        kept = await store.get(STAYS, self._cluster)
        record = await restored_value(store, STAYS, self._cluster, kept, lambda _, value: _KEPT.validate_json(value))
        if kept is not None and record is None:
            log.error("failovers are counted anew", cluster=self._cluster)
        self.record = FailoverRecord() if record is None else record

    def see(self, cluster_id: str | None, upstream: str, *, separates: bool, moved: bool = False) -> bool:
        """Note that clients are at this Kafka cluster, None where it is not known, through that upstream.

        `separates`: producer ids have their cluster in them from now on. `moved`: clients were sent there, so an
        unknown cluster counts as another one. Returns whether the record has changed.
        """
        before, name = self.record, f"upstream {upstream}"
        if not before.cluster or (before.cluster == name and not moved):
            stay = before.named(cluster_id or name)
        else:
            stay = before.at(cluster_id or name) if cluster_id or moved else before
        self.record = replace(stay, separates=stay.separates or separates)
        return self.record != before

    async def keep(self, store: Store) -> None:
        """Store the record, so that a restart continues from it."""
        await keep(store, STAYS, self._cluster, _KEPT.dump_json(self.record))
