"""Shows the upstream clusters of a virtual cluster to the admin port: each as kproxy saw it when it last looked.

`ProcessView` calls it for /api/v1/clusters and /metrics.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import trio

from kproxy.admin.inventory import time_shown
from kproxy.admin.models import UnmappedView, UpstreamNodeView, UpstreamView
from kproxy.config.address import join_host_port
from kproxy.observe.counters import UpstreamCounters

if TYPE_CHECKING:
    from kproxy.cluster.cluster import Cluster
    from kproxy.cluster.upstreams import Upstream


def upstream_views(cluster: Cluster) -> Sequence[UpstreamView]:
    """Return the upstreams in order of preference."""
    return [_view(cluster, upstream) for upstream in cluster.upstreams.all.values()]


def upstream_counters(cluster: Cluster) -> Mapping[str, UpstreamCounters]:
    """Return their numbers for /metrics, by name; those that a reload has removed are not among them."""
    return {name: _counters(cluster, upstream) for name, upstream in cluster.upstreams.all.items()}


def _view(cluster: Cluster, upstream: Upstream) -> UpstreamView:
    standing = upstream.standing
    is_active = upstream is cluster.upstreams.active
    known, began = standing.reachability, _began()
    return UpstreamView(
        name=upstream.name,
        bootstrap_servers=[str(server) for server in upstream.settings.bootstrap_servers],
        active=is_active,
        reachable=None if known is None else known.ok,
        since=None if known is None else time_shown(began + known.since),
        error=None if standing.last is None else standing.last.error,
        last_answer=None if standing.answered_at is None else time_shown(began + standing.answered_at),
        cluster_id=standing.cluster_id,
        nodes=_nodes(upstream),
        unmapped=[UnmappedView(node_id, why) for node_id, why in _lacking(cluster, upstream).items()],
        fit=None if is_active else cluster.standbys.doubt(upstream) is None,
        warnings=[] if is_active else [objection.why for objection in cluster.standbys.objections(upstream)],
    )


def _counters(cluster: Cluster, upstream: Upstream) -> UpstreamCounters:
    standing, is_active = upstream.standing, upstream is cluster.upstreams.active
    counters = UpstreamCounters(fit=None if is_active else cluster.standbys.doubt(upstream) is None)
    if standing.reachability is not None:
        counters.reachable = standing.reachability.ok
    if standing.answered_at is not None:
        nodes = _nodes(upstream)
        counters.answered_at = _began() + standing.answered_at
        counters.nodes, counters.silent = len(nodes), sum(node.reachable is False for node in nodes)
        counters.lacking = len(_lacking(cluster, upstream))
    return counters


def _nodes(upstream: Upstream) -> Sequence[UpstreamNodeView]:
    snapshot, probed = upstream.snapshot, upstream.watcher.nodes
    return [
        UpstreamNodeView(node.id, join_host_port(*node.address), probed[node.id].ok if node.id in probed else None)
        for node in (() if snapshot is None else snapshot.nodes.values())
    ]


def _lacking(cluster: Cluster, upstream: Upstream) -> Mapping[int, str]:
    """Return the nodes without a port, and why."""
    return cluster.nodes.unmapped if upstream is cluster.upstreams.active else upstream.standing.lacking


_kept: Final[trio.lowlevel.RunVar[float | None]] = trio.lowlevel.RunVar("kept", default=None)


def _began() -> float:
    """Return when Trio's clock was 0, in seconds since the Unix epoch.

    The two clocks are read one after the other, so that each look finds it a little earlier or later. The first is
    kept: what is shown of one moment is the same in each answer. It is read anew when the system's clock was set.
    """
    began, kept = time.time() - trio.current_time(), _kept.get()
    if kept is None or abs(began - kept) > 1:
        _kept.set(began)
        return began
    return kept
