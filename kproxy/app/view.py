"""Shows the process to the admin port.

`Process` makes one when it starts, if `admin` is configured. The admin port calls it for each request.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import trio

from kproxy.admin.inventory import GroupedClients, connection_view, time_shown
from kproxy.admin.models import (
    ClientView,
    ClusterView,
    CommandResult,
    ConnectionView,
    Event,
    FailoverFinding,
    FaultRuleView,
    GroupMemberView,
    GroupView,
    InstanceView,
    NodeView,
    PartitionLagView,
    Readiness,
    Rebootstrap,
    Rehearsal,
    ReloadResult,
    RetiredView,
    SubscriptionView,
    TransactionalIdView,
    UnmappedView,
)
from kproxy.admin.turns import Turn
from kproxy.admin.view import cluster_not_found
from kproxy.app.agreement_view import agreement_view, order_counters
from kproxy.app.fault_view import fault_rule_view
from kproxy.app.readiness import readiness
from kproxy.app.transaction_view import transaction_view
from kproxy.app.upstream_view import upstream_counters, upstream_views
from kproxy.cluster.takeover import Weight
from kproxy.config.address import join_host_port
from kproxy.errors import ConflictError, KproxyError, NotFoundError, RetryLaterError
from kproxy.observe.counters import Counters
from kproxy.observe.events import OperatorCommand

if TYPE_CHECKING:
    from types import ModuleType

    from kproxy.app.readiness import Serving
    from kproxy.cluster.cluster import Cluster
    from kproxy.cluster.events import Happened
    from kproxy.cluster.fault_injection import FaultInjection
    from kproxy.coordinator.hosted_groups import HostedGroups
    from kproxy.protocol.connections import ConnectionInfo
    from kproxy.routing.places import Place
    from kproxy.telemetry.client_telemetry import ClientTelemetry

_KEEP_SECONDS: Final = 5.0
"""For the disk, until a failover is answered: clients are switched already."""


class ProcessView:
    """Implements `kproxy.admin.view.View`."""

    def __init__(self, process: Serving) -> None:
        self._process = process

    async def count(self) -> Counters:
        """The process' counters; held bytes are summed up, and transactions time out, now and not on the hot path."""
        counters, held = self._process.counters, dict[str, int]()
        turn = Turn()
        for name, size in self._process.relay.connections.held_bytes():
            held[name] = held.get(name, 0) + size
            await turn.pause()
        for name, cluster in counters.clusters.items():
            cluster.held_bytes = held.get(name, 0)
        await self._expire(turn)
        for running in self._process.clusters:
            running.counters.looks = upstream_counters(running)
            running.counters.orders = order_counters(running.agreement)
        return counters

    def readiness(self) -> Readiness:
        return readiness(self._process)

    def cluster_names(self) -> Collection[str]:
        return [cluster.settings.name for cluster in self._process.clusters]

    async def cluster(self, name: str) -> ClusterView:
        self._cluster(name)  # whether there is one, before anything is counted
        held = await self._by_node()
        return _cluster(self._cluster(name), held)

    async def clusters(self) -> Sequence[ClusterView]:
        held = await self._by_node()
        return [_cluster(cluster, held) for cluster in self._process.clusters]

    async def _by_node(self) -> Mapping[tuple[str, int | None], int]:
        """The number of connections by virtual cluster and node (None: the bootstrap listener)."""
        counts: dict[tuple[str, int | None], int] = {}
        turn = Turn()
        for key in self._process.relay.connections.nodes():
            counts[key] = counts.get(key, 0) + 1
            await turn.pause()
        return counts

    def connections(self, cluster: str | None, after: int) -> Iterator[ConnectionView | None]:
        for info in self._infos(cluster, after):
            yield None if info is None else connection_view(info)

    async def clients(self, cluster: str | None) -> Iterable[ClientView]:
        grouped, turn = GroupedClients(), Turn()
        for info in self._infos(cluster):
            if info is not None:
                grouped.add(info)
            await turn.pause()
        return grouped.views()

    def _infos(self, cluster: str | None, after: int = 0) -> Iterator[ConnectionInfo | None]:
        """The connections by rising id; None for one that has ended, or is another virtual cluster's."""
        connections = self._process.relay.connections
        for number in connections.numbers(after=after):
            info = connections.info(number)
            yield info if info is None or cluster in (None, info.cluster) else None

    def events(self, cluster: str) -> Iterable[Event]:
        return map(_event, self._cluster(cluster).events.kept)

    def report(self, cluster: str | None, command: OperatorCommand) -> None:
        clusters = self._process.clusters
        named = [one for one in clusters if cluster == one.settings.name]
        every = clusters if command.refused is None else clusters[:1]  # a refusal concerns none of them
        for one in named or every:
            one.events.audit(command)

    async def reload(self) -> ReloadResult:
        reloader = self._process.reloader
        if reloader is None:
            raise ConflictError("this process has nothing to read its configuration from")
        try:
            changed = await reloader.reload()
        except KproxyError as error:
            raise ConflictError(f"nothing has changed: {error}") from error
        clusters = {name: sorted(keys) for name, keys in changed.clusters.items()}
        return ReloadResult(sorted(changed.process), clusters, changed.added, changed.removed)

    async def rebootstrap(self, cluster: str) -> CommandResult:
        found = self._running(cluster)
        return _result(found, found.failover_controller.rebootstrap())

    async def failover(self, cluster: str, to: str | None, force: bool) -> CommandResult:
        found = self._running(cluster)
        done = _result(found, await found.failover_controller.failover(to, force=force))
        # Whoever is answered may end kproxy; the next switch need not wait for the disk, nor do clients.
        return replace(done, unkept=await found.kept.settle(_KEEP_SECONDS))

    async def rehearse(self, cluster: str, to: str | None) -> Rehearsal:
        found = self._running(cluster)
        unable = sorted(_shown(one) for one in await self.clients(cluster) if one.rebootstrap is Rebootstrap.NO)
        upstream, findings = await found.failover_controller.rehearse(to, unable)
        said = [FailoverFinding(one.weight, one.about, one.detail) for one in findings]
        return Rehearsal(cluster, upstream, any(one.weight is Weight.REFUSES for one in findings), said)

    async def clients_page(self, compress: bool) -> tuple[str, bytes] | None:
        served = [cluster.telemetry for cluster in self._process.clusters if cluster.telemetry is not None]
        shown: tuple[str, bytes] | None = await _telemetry_view().page(served, compress) if served else None
        return shown

    def subscriptions(self, cluster: str) -> Sequence[SubscriptionView]:
        found: Sequence[SubscriptionView] = _telemetry_view().subscriptions(self._telemetry(cluster))
        return found

    async def subscribe(
        self, cluster: str, name: str, metrics: Sequence[str], interval_ms: int | None, match: Mapping[str, str]
    ) -> SubscriptionView:
        telemetry = self._telemetry(cluster)
        made: SubscriptionView = await _telemetry_view().subscribe(telemetry, name, metrics, interval_ms, match)
        return made

    async def unsubscribe(self, cluster: str, name: str) -> None:
        await _telemetry_view().unsubscribe(self._telemetry(cluster), name)

    async def instances(self, cluster: str, after: UUID | None, limit: int) -> Iterable[InstanceView]:
        found: Iterable[InstanceView] = await _telemetry_view().instances(self._telemetry(cluster), after, limit)
        return found

    def groups(self, cluster: str, after: str | None, limit: int) -> Iterable[GroupView]:
        found: Iterable[GroupView] = _group_view().groups(self._groups(cluster), after, limit, trio.current_time())
        return found

    def group(self, cluster: str, group: str) -> GroupView:
        found: GroupView = _group_view().group(self._groups(cluster), group, trio.current_time())
        return found

    def group_members(self, cluster: str, group: str, after: str | None, limit: int) -> Iterable[GroupMemberView]:
        found: Iterable[GroupMemberView] = _group_view().members(
            self._groups(cluster), group, after, limit, trio.current_time()
        )
        return found

    async def group_lag(self, cluster: str, group: str) -> Iterable[PartitionLagView]:
        hosted, upstream = self._groups(cluster), self._cluster(cluster).upstreams.active
        found: Iterable[PartitionLagView] = await _group_view().lag(hosted, upstream.ask, group)
        return found

    def fault_rules(self, cluster: str) -> Sequence[FaultRuleView]:
        return [fault_rule_view(*found) for found in self._faults(cluster).rules()]

    def fault_rule(self, cluster: str, number: int) -> FaultRuleView:
        return fault_rule_view(*self._faults(cluster).rule(number))

    def add_fault_rule(self, cluster: str, fields: Mapping[str, Any]) -> FaultRuleView:
        return fault_rule_view(*self._faults(cluster).add(fields))

    def remove_fault_rules(self, cluster: str, number: int | None) -> int:
        return self._faults(cluster).remove(number)

    async def transactions(self, cluster: str | None) -> Iterable[TransactionalIdView]:
        await self._expire(Turn())
        found = [one for one in self._process.clusters if cluster in (None, one.settings.name)]
        return (transaction_view(one.settings.name, row) for one in found for row in one.transactional_ids.all())

    async def _expire(self, turn: Turn) -> None:
        for one in self._process.clusters:
            for _ in one.transactional_ids.expire(time.time()):
                await turn.pause()

    def _faults(self, cluster: str) -> FaultInjection:
        faults = self._cluster(cluster).faults
        if faults is None:
            raise ConflictError(f"{cluster}: faults are not enabled: faults.enabled in its configuration, at a start")
        return faults

    def _groups(self, cluster: str) -> HostedGroups:
        groups = self._cluster(cluster).groups
        if groups is None:
            raise NotFoundError(f"{cluster}: kproxy hosts none of its groups; `groups` in the configuration says which")
        return groups

    def _telemetry(self, cluster: str) -> ClientTelemetry:
        telemetry = self._cluster(cluster).telemetry
        if telemetry is None:
            raise NotFoundError(f"{cluster}: kproxy serves no telemetry for it")
        return telemetry

    def _running(self, name: str) -> Cluster:
        """Return one that can be commanded; raises `RetryLaterError` at the start, which may wait for orders."""
        if not self._process.started:
            raise RetryLaterError("kproxy is starting", 1.0)
        return self._cluster(name)

    def _cluster(self, name: str) -> Cluster:
        for cluster in self._process.clusters:
            if cluster.settings.name == name:
                return cluster
        raise cluster_not_found(name, self.cluster_names())


def _group_view() -> ModuleType:
    """Import the view of hosted groups, and the codecs that it needs, only where groups are hosted."""
    from kproxy.admin import group_view  # noqa: PLC0415

    return group_view


def _telemetry_view() -> ModuleType:
    """Import the view of telemetry, and the libraries that it needs, only where telemetry is served."""
    from kproxy.admin import telemetry_view  # noqa: PLC0415

    return telemetry_view


def _event(happened: Happened) -> Event:
    return Event(time_shown(happened.at), happened.event.log, happened.event.log_fields())


def _cluster(cluster: Cluster, held: Mapping[tuple[str, int | None], int]) -> ClusterView:
    name = cluster.settings.name
    return ClusterView(
        name=name,
        cluster_id=cluster.upstreams.cluster_id,
        bootstrap_servers=[str(server) for server in cluster.upstreams.active.settings.bootstrap_servers],
        listen=join_host_port(*cluster.listeners.listen),
        nodes=_nodes(cluster, held),
        unmapped=_unmapped(cluster),
        connections=sum(count for (owner, _), count in held.items() if owner == name),
        epoch=cluster.epoch,
        upstream=cluster.upstreams.active.name,
        upstreams=upstream_views(cluster),
        agreement=agreement_view(cluster.agreement),
        retired=_retired(cluster),
        telemetry=cluster.telemetry is not None,
        hosts_groups=cluster.groups is not None,
        faults=cluster.faults is not None,
    )


def _retired(cluster: Cluster) -> list[RetiredView]:
    ends = cluster.config.topology.grace - trio.current_time()
    return [
        _retired_view(cluster, listener.node_id, listener.place, round(max(0.0, listener.retired + ends), 3))
        for listener in cluster.nodes.addresses.retired
        if listener.node_id is not None and listener.retired is not None
    ]


def _retired_view(cluster: Cluster, node_id: int, place: Place, seconds: float) -> RetiredView:
    if isinstance(place, int):
        return RetiredView(node_id, place, seconds)
    return RetiredView(node_id, cluster.listeners.listen[1], seconds, place)


def _result(cluster: Cluster, connections: int) -> CommandResult:
    return CommandResult(
        cluster.settings.name, cluster.upstreams.active.name, cluster.epoch, connections, _unmapped(cluster)
    )


def _unmapped(cluster: Cluster) -> list[UnmappedView]:
    return [UnmappedView(node_id, why) for node_id, why in cluster.nodes.unmapped.items()]


def _nodes(cluster: Cluster, held: Mapping[tuple[str, int | None], int]) -> list[NodeView]:
    snapshot = cluster.upstreams.watcher.snapshot
    racks = {} if snapshot is None else {node.id: node.rack for node in snapshot.nodes.values()}
    return [
        NodeView(
            node_id=node_id,
            upstream="" if node.upstream is None else join_host_port(*node.upstream),
            advertised=join_host_port(*cluster.nodes.addresses.advertised(node, cluster.listeners.listen[0])),
            rack=racks.get(node_id),
            reachable=cluster.counters.node(node_id).reachable,
            connections=held.get((cluster.settings.name, node_id), 0),
        )
        for node_id, node in sorted(cluster.nodes.addresses.nodes.items())
    ]


def _shown(client: ClientView) -> str:
    return f"{client.client_id or 'a client without an id'} at {client.host}"
