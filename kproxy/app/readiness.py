"""Whether the process serves, and what is amiss."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from kproxy.admin.models import Cause, Readiness, State

if TYPE_CHECKING:
    from kproxy.cluster.cluster import Cluster
    from kproxy.config import Config
    from kproxy.observe.counters import Counters
    from kproxy.relay.relay import Relay


class Serving(Protocol):
    """What a process is made of, and where it is in its life."""

    config: Config
    counters: Counters
    relay: Relay
    started: bool
    """Whether all listeners are bound."""
    draining: bool

    @property
    def clusters(self) -> Sequence[Cluster]:
        """The virtual clusters, in the configuration's order."""

    def adopt(self, config: Config) -> None:
        """Take what the whole process has from another configuration."""


def readiness(process: Serving) -> Readiness:
    """Draining and starting before all else; degraded while a backend or a node of it is out of reach."""
    if process.draining:
        return Readiness(State.DRAINING)
    starting = [cause for cluster in process.clusters if (cause := _not_seen(cluster))]
    if not process.started or starting:
        return Readiness(State.STARTING, tuple(starting))
    causes = tuple(cause for cluster in process.clusters for cause in _troubles(cluster))
    return Readiness(State.DEGRADED if causes else State.READY, causes)


def _not_seen(cluster: Cluster) -> Cause | None:
    """A backend that was not asked yet; one that was asked in vain leaves the proxy degraded, not starting."""
    if cluster.upstreams.watcher.snapshot is None and cluster.upstreams.watcher.reachable is None:
        return Cause(cluster.settings.name, None, "the backend was not reached yet")
    return None


def _troubles(cluster: Cluster) -> Iterable[Cause]:
    name, watcher = cluster.settings.name, cluster.upstreams.watcher
    if watcher.reachable is False:  # None just after a switch, whose target has answered
        yield Cause(name, None, f"no bootstrap server answers: {watcher.last_error}")
    known = watcher.snapshot.nodes if watcher.snapshot is not None else {}
    for node_id, node in cluster.counters.nodes.items():
        if node_id in known and node.reachable is False:
            yield Cause(name, node_id, f"{node.address}: {node.last_error}")
    for node_id, why in cluster.nodes.unmapped.items():
        yield Cause(name, node_id, f"has no port: {why}")
