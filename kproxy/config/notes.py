"""What is allowed and yet may not be what was meant, as lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from kproxy.config.address import MAX_PORT
from kproxy.config.cluster import VirtualCluster
from kproxy.config.models import Config


def notes(config: Config) -> Iterator[str]:
    """`key: what comes of it`, in the configuration's order."""
    for cluster in config.clusters:
        if len(cluster.backends) > 1 and cluster.nodes.strategy == "offset":
            yield f"clusters.{cluster.name}.nodes: {_covered(cluster)}"
        if cluster.telemetry is not None and not config.receivers_of(cluster):
            yield f"clusters.{cluster.name}.telemetry: has no receiver: what clients push is taken and dropped"
    served = {receiver.name for cluster in config.clusters for receiver in config.receivers_of(cluster)}
    for receiver in config.receivers:
        if receiver.name not in served:
            yield f"receivers.{receiver.name}: no virtual cluster's telemetry goes there"
        elif receiver.type == "prometheus" and config.admin is None:
            yield f"receivers.{receiver.name}: there is no admin port to serve /metrics/clients"


def _covered(cluster: VirtualCluster) -> str:
    """Which nodes the upstreams may have: what they do have is not known before they are asked."""
    ranges = [str(ids.first) if len(ids) == 1 else str(ids) for ids in cluster.nodes.ranges]
    covered = ", ".join(ranges) or f"0-{MAX_PORT - cluster.first_port}"
    names = ", ".join(upstream.name for upstream in cluster.backends)
    return f"there are ports for the node ids {covered}: all nodes of {names} must be among them (--connect asks them)"
