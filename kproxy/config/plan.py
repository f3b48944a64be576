"""What a configuration would listen on and what clients are told, as lines of a table for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kproxy.config.address import MAX_PORT, HostPort, join_host_port
from kproxy.config.cluster import VirtualCluster
from kproxy.config.models import Config
from kproxy.config.nodes import Claim, room


@dataclass(frozen=True, slots=True)
class Line:
    """One listener, or one run of ports: whose, for what, where, and the address that clients are told.

    Or a further backend, for failover: nothing listens for it.
    """

    cluster: str
    purpose: str
    listens: str
    advertised: str
    backend: str = ""


def plan(config: Config) -> Iterator[Line]:
    """Every listener of the configuration, in its order; the admin listener last."""
    claims = config.claims()
    for index, cluster in enumerate(config.clusters):
        first, *others = _backends(cluster)
        yield Line(cluster.name, "bootstrap", _listener(cluster.listen), "", first)
        yield from (Line(cluster.name, "failover", "", "", other) for other in others)
        if cluster.nodes.ranges:
            yield from _ranges(cluster)
        else:
            claim = next(c for c in claims if c.path[:3] == ("clusters", index, "nodes"))
            yield _open(cluster, claim, room(claim, claims))
    if config.admin:
        yield Line("", "admin", _listener(config.admin.listen), "")


def _backends(cluster: VirtualCluster) -> list[str]:
    """The upstreams' servers, with their names where they were given."""
    servers = {upstream.name: ", ".join(map(str, upstream.bootstrap_servers)) for upstream in cluster.backends}
    return [f"{name}: {addresses}" for name, addresses in servers.items()] if cluster.upstreams else [*servers.values()]


def _ranges(cluster: VirtualCluster) -> Iterator[Line]:
    port = cluster.first_port
    for ids in cluster.nodes.ranges:
        last = port + len(ids) - 1
        shift = _shift(cluster)
        yield Line(
            cluster.name,
            f"node {ids.first}" if len(ids) == 1 else f"nodes {ids}",
            join_host_port(cluster.listen.host, _run(port, last)),
            join_host_port(_told(cluster), _run(port + shift, last + shift)),
        )
        port = last + 1


def _open(cluster: VirtualCluster, claim: Claim, space: int | None) -> Line:
    """Nodes whose number is not known: upwards from the first port."""
    if not claim.first:
        return Line(
            cluster.name,
            "nodes",
            join_host_port(cluster.listen.host, "any free ports"),
            f"{_told(cluster)}, the same ports",
        )
    told, by_id = claim.first + _shift(cluster), cluster.nodes.strategy == "offset"
    upwards = " + node id" if by_id else " and up"
    limit = f" (below {claim.first + space})" if space is not None else ""
    listens = join_host_port(cluster.listen.host, f"{claim.first}{upwards}{limit}")
    return Line(cluster.name, "nodes", listens, join_host_port(_told(cluster), f"{told}{upwards}"))


def _shift(cluster: VirtualCluster) -> int:
    """How far the ports that clients are told lie above those that kproxy listens on."""
    advertised = cluster.nodes.advertised_first_port
    return 0 if advertised is None else advertised - cluster.first_port


def _told(cluster: VirtualCluster) -> str:
    return cluster.advertised_host or "<address the client reached>"


def _listener(listen: HostPort) -> str:
    return str(listen) if listen.port else join_host_port(listen.host, "any free port")


def _run(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


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
