"""What the admin port sees of the process."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kproxy.admin.view import (
    Cause,
    ClientView,
    ClusterView,
    ConnectionView,
    Event,
    NodeView,
    Readiness,
    Rebootstrap,
    RefusedError,
    State,
    Told,
    UpstreamView,
)
from kproxy.observe.counters import Counters

if TYPE_CHECKING:
    from kproxy.app.cluster import Cluster
    from kproxy.app.life import Life
    from kproxy.relay.connection import Connection


class LifeView:
    """Implements `kproxy.admin.view.View`."""

    def __init__(self, life: Life) -> None:
        self._life = life

    @property
    def counters(self) -> Counters:
        """As they are counted; what is held is summed up now, because the hot path keeps no account of it."""
        counters = self._life.counters
        held = dict.fromkeys(counters.clusters, 0)
        for connection in self._life.pump.connections.values():
            held[connection.context.backend.counters.name] += connection.held_bytes
        for name, cluster in counters.clusters.items():
            cluster.held_bytes = held[name]
        return counters

    def readiness(self) -> Readiness:
        """Draining and starting before all else; degraded while a backend or a node of it is out of reach."""
        if self._life.draining:
            return Readiness(State.DRAINING)
        starting = [cause for cluster in self._life.clusters if (cause := _not_seen(cluster))]
        if not self._life.started or starting:
            return Readiness(State.STARTING, tuple(starting))
        causes = tuple(cause for cluster in self._life.clusters for cause in _troubles(cluster))
        return Readiness(State.DEGRADED if causes else State.READY, causes)

    def clusters(self) -> Sequence[ClusterView]:
        held: dict[tuple[str, int | None], int] = {}
        for connection in self._life.pump.connections.values():
            context = connection.context
            key = context.backend.counters.name, context.node_id
            held[key] = held.get(key, 0) + 1
        return [_cluster(cluster, held) for cluster in self._life.clusters]

    def connections(self, cluster: str | None) -> Iterable[ConnectionView]:
        # Ids rise and a dict keeps its order, so this is by rising id; the copy lets the page be made lazily.
        for connection in list(self._life.pump.connections.values()):
            if cluster in (None, connection.context.backend.counters.name):
                yield _connection(connection)

    def clients(self, cluster: str | None) -> Iterable[ClientView]:
        """Connections by who their client says it is; how it would bootstrap again is not known yet."""
        found: dict[tuple[str, str, str | None, tuple[str, str] | None], list[Connection]] = {}
        for connection in self._life.pump.connections.values():
            context = connection.context
            name = context.backend.counters.name
            if cluster in (None, name):
                found.setdefault((name, context.host, context.client_id, context.software), []).append(connection)
        for (name, host, client_id, software), connections in found.items():
            version = max(connection.context.metadata_version for connection in connections)
            yield ClientView(
                cluster=name,
                host=host,
                client_id=client_id,
                software_name=None if software is None else software[0],
                software_version=None if software is None else software[1],
                connections=len(connections),
                since=_moment(min(connection.opened for connection in connections)),
                metadata_version=None if version < 0 else version,
                rebootstrap=Rebootstrap.UNKNOWN,
            )

    def events(self, cluster: str) -> Sequence[Event]:
        del cluster
        return ()

    async def rebootstrap(self, cluster: str) -> Told:
        raise RefusedError(f"{cluster}: nobody carries out this order yet")

    async def failover(self, cluster: str, to: str | None, force: bool) -> Told:
        del to, force
        raise RefusedError(f"{cluster}: nobody carries out this order yet")


def _not_seen(cluster: Cluster) -> Cause | None:
    """A backend that was not asked yet; one that was asked in vain leaves the proxy degraded, not starting."""
    if cluster.watcher.snapshot is None and cluster.watcher.reachable is None:
        return Cause(cluster.settings.name, None, "the backend was not reached yet")
    return None


def _troubles(cluster: Cluster) -> Iterable[Cause]:
    name, watcher = cluster.settings.name, cluster.watcher
    if not watcher.reachable:
        yield Cause(name, None, f"no bootstrap server answers: {watcher.last_error}")
    known = watcher.snapshot.nodes if watcher.snapshot is not None else {}
    for node_id, node in cluster.counters.nodes.items():
        if node_id in known and node.reachable is False:
            yield Cause(name, node_id, f"{node.address}: {node.last_error}")


def _cluster(cluster: Cluster, held: dict[tuple[str, int | None], int]) -> ClusterView:
    name = cluster.settings.name
    return ClusterView(
        name=name,
        cluster_id=cluster.cluster_id,
        bootstrap_servers=[str(server) for server in cluster.settings.backends[0].bootstrap_servers],
        listen=_address(*cluster.listen),
        nodes=_nodes(cluster, held),
        connections=sum(count for (owner, _), count in held.items() if owner == name),
        epoch=cluster.epoch,
        upstream=cluster.settings.backends[0].name,
        upstreams=[
            UpstreamView(upstream.name, [str(server) for server in upstream.bootstrap_servers], active=not index)
            for index, upstream in enumerate(cluster.settings.backends)
        ],
        retired=[],
    )


def _nodes(cluster: Cluster, held: dict[tuple[str, int | None], int]) -> list[NodeView]:
    snapshot = cluster.watcher.snapshot
    racks = {} if snapshot is None else {node.id: node.rack for node in snapshot.nodes.values()}
    return [
        NodeView(
            node_id=node_id,
            upstream="" if node.upstream is None else _address(*node.upstream),
            advertised=_address(*cluster.addresses.advertised(node, cluster.listen[0])),
            rack=racks.get(node_id),
            reachable=cluster.counters.node(node_id).reachable,
            connections=held.get((cluster.settings.name, node_id), 0),
        )
        for node_id, node in sorted(cluster.addresses.nodes.items())
    ]


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _connection(connection: Connection) -> ConnectionView:
    context = connection.context
    name, version = context.software or (None, None)
    return ConnectionView(
        id=connection.id,
        cluster=context.backend.counters.name,
        node=context.node_id,
        client=context.client,
        upstream=connection.upstream,
        since=_moment(connection.opened),
        client_id=context.client_id,
        software_name=name,
        software_version=version,
        requests=connection.requests.count,
        responses=connection.responses.count + connection.requests.answered,
        bytes_in=connection.received,
        bytes_out=connection.client.sent,
        in_flight=len(connection.in_flight),
        paused=connection.paused,
    )
