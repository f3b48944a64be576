"""Remembers the Kafka clusters that a virtual cluster's clients have been at, and counts their moves.

`Cluster` restores it at start, and adds to it whenever clients may have come to another Kafka cluster.

Producer ids depend on it: see `kproxy.producers.producer_ids`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import structlog
from pydantic import TypeAdapter

from kproxy.agreement.failover_record import FailoverRecord, by_upstream
from kproxy.state.restore import restored_value

if TYPE_CHECKING:
    from kproxy.state.kept import Kept
    from kproxy.state.store import Store

STAYS: Final = "stays"
"""The state store's table of `FailoverRecord`s as JSON, by virtual cluster."""
SWITCHED: Final = "switched"
"""The state store's table of the last switches' times as text, in seconds since the Unix epoch, by virtual cluster."""

log = structlog.get_logger("kproxy.cluster")


_KEPT: Final = TypeAdapter(FailoverRecord)


class FailoverHistory:
    """The moves of one virtual cluster's clients; `record` is the present stay.

    Without a `state.path` a restart counts from 0.
    """

    def __init__(self, cluster: str) -> None:
        self.record = FailoverRecord()
        self.switched_at: float | None = None
        """When clients were last sent to another upstream, in seconds since the Unix epoch; None if they never were."""
        self._cluster = cluster

    async def remember(self, store: Store) -> None:
        """Restore the record from before a restart; begin anew where none is kept. Raises `StateError`."""
        kept = await store.get(STAYS, self._cluster)
        record = await restored_value(store, STAYS, self._cluster, kept, lambda _, value: _KEPT.validate_json(value))
        if kept is not None and record is None:
            log.error("failovers are counted anew", cluster=self._cluster)
        self.record = FailoverRecord() if record is None else record
        kept = await store.get(SWITCHED, self._cluster)
        self.switched_at = await restored_value(store, SWITCHED, self._cluster, kept, lambda _, value: float(value))

    def see(self, cluster_id: str | None, upstream: str, *, separates: bool, moved: bool = False) -> bool:
        """Note that clients are at this Kafka cluster, None where it is not known, through that upstream.

        `separates`: producer ids have their cluster in them from now on. `moved`: clients were sent there, so an
        unknown cluster counts as another one. Returns whether the record has changed.
        """
        before, name = self.record, by_upstream(upstream)
        if not before.cluster or (before.cluster == name and not moved):
            stay = before.named(cluster_id or name)
        else:
            stay = before.at(cluster_id or name) if cluster_id or moved else before
        self.record = replace(stay, separates=stay.separates or separates)
        return self.record != before

    def next_stay(self, cluster_id: str | None, upstream: str, *, separates: bool) -> FailoverRecord:
        """Return the stay that begins when clients are sent to that Kafka cluster, through that upstream."""
        stay = self.record.at(cluster_id or by_upstream(upstream))
        return replace(stay, separates=stay.separates or separates)

    def adopt(self, stay: FailoverRecord) -> None:
        """Take another replica's count of the moves in place of one's own."""
        self.record = stay

    def keep(self, kept: Kept) -> None:
        """Have it kept, so that a restart continues from it."""
        kept.put(STAYS, self._cluster, _KEPT.dump_json(self.record))
        if self.switched_at is not None:
            kept.put(SWITCHED, self._cluster, repr(self.switched_at).encode())
