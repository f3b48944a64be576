# This module is pure (no I/O, no clock).
"""The clients' stay at one Kafka cluster, which replicas must count alike.

`kproxy.cluster.failover_history` keeps the present one, and an order bears that which it begins. Producer ids depend on
it: see `kproxy.producers.producer_ids`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

_UPSTREAM: Final = "upstream "


def by_upstream(name: str) -> str:
    """Return what a cluster is called while its id is not known. No id has a space."""
    return f"{_UPSTREAM}{name}"


@dataclass(frozen=True, slots=True)
class FailoverRecord:
    """The clients' stay at one Kafka cluster, from one move to the next.

    `failovers`: the moves before this stay. `cluster`: Kafka's id of the cluster, or the upstream's name while the id
    is not known. `returned`: clients had been there before, or may have been. `visited`: all clusters where they were.
    `separates`: producer ids have had their cluster in them at some time.
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
        known = cluster in self.visited
        # One whose id is not known yet may be any of them. Its stay keeps what it began with: producers go on with the
        # ids that they have got.
        returned = known or (cluster.startswith(_UPSTREAM) and bool(self.visited))
        visited = self.visited if known else (*self.visited, cluster)
        return replace(self, failovers=self.failovers + 1, cluster=cluster, returned=returned, visited=visited)

    def is_elsewhere(self, cluster_id: str | None, upstream: str) -> bool:
        """Return whether this stay was at another cluster than the one with this id, behind this upstream.

        Where the stay's id was never known the upstream decides.
        """
        if self.cluster.startswith(_UPSTREAM):
            return self.cluster != by_upstream(upstream)
        return bool(self.cluster) and cluster_id is not None and self.cluster != cluster_id

    def named(self, cluster: str) -> FailoverRecord:
        """Return the same stay under the cluster's name or id, now that it is known."""
        others = tuple(one for one in self.visited if one != self.cluster)
        returned = self.returned or cluster in others
        return replace(self, cluster=cluster, returned=returned, visited=tuple(dict.fromkeys((*others, cluster))))
