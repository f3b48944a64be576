"""A virtual cluster as the relay sees it: which addresses to dial, which to advertise, which policies apply.

The acceptor asks it for each client that connects. Policies ask it, as `Context.cluster`, for requests and responses.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from kproxy.cluster.audit import Audit
from kproxy.cluster.policies import composed, composed_retired
from kproxy.cluster.refusals import Refusals
from kproxy.observe.faults import guarded
from kproxy.observe.reasons import Reason
from kproxy.observe.troubles import Where
from kproxy.protocol.api_table import ApiPolicy, ApiTable
from kproxy.relay.apis import RETIRED_KEYS
from kproxy.relay.apis.reauthentication import policies as reauthentication
from kproxy.routing.address_map import UpstreamNode
from kproxy.topology.snapshot import another_cluster

if TYPE_CHECKING:
    import trio

    from kproxy.authentication.authenticator import Authenticator
    from kproxy.cluster.error_reports import ErrorReports
    from kproxy.cluster.nodes import Nodes
    from kproxy.cluster.upstreams import Upstreams
    from kproxy.observe.counters import ClusterCounters
    from kproxy.observe.events import AdmissionRefused, AuthenticationResult
    from kproxy.producers.producer_ids import ProducerIds
    from kproxy.protocol.context import Context
    from kproxy.protocol.network import Networks
    from kproxy.quotas.byte_rates import ByteRates
    from kproxy.quotas.connections import PrincipalConnections
    from kproxy.rebootstrap.group_members import GroupMembers
    from kproxy.rebootstrap.service import RebootstrapService
    from kproxy.rebootstrap.topics_in_use import TopicsInUse
    from kproxy.transactions.transactional_ids import TransactionalIds
    from kproxy.upstream.authentication import Asked
    from kproxy.upstream.tls import BrokerContext, ServerContext
    from kproxy.wire.generated.api_versions_response import ApiVersionsResponse


class ClusterDestination:
    """Implements `kproxy.relay.acceptor.Destination`; its answers may change at any time."""

    def __init__(
        self,
        counters: ClusterCounters,
        upstreams: Upstreams,
        nodes: Nodes,
        rebootstrap: RebootstrapService,
        telemetry: Mapping[int, ApiPolicy],
        groups: Mapping[int, ApiPolicy],
        faults: Mapping[int, ApiPolicy],
        rates: ByteRates,
        connections: PrincipalConnections,
        members: GroupMembers,
        topics: TopicsInUse,
        transactional_ids: TransactionalIds,
        tls: ServerContext | None,
        balancers: Networks,
        max_connections: int | None,
        report: Callable[[AuthenticationResult | AdmissionRefused], None],
        errors: ErrorReports,
        *,
        authenticates: bool = False,
    ) -> None:
        """Policies of telemetry, hosted groups and injected faults are by api key; raises `CompositionError`."""
        self.counters = counters
        self.removed = False
        self._upstreams = upstreams
        self._nodes = nodes
        self._rebootstrap = rebootstrap
        self._telemetry = telemetry
        self._groups = groups
        self._faults = faults
        self._rates = rates
        self._connections = connections
        self._members = members
        self._topics = topics
        self._transactional_ids = transactional_ids
        self._limited = self._limits
        self.tls = tls
        self.balancers = balancers
        self.max_connections = max_connections
        self.authenticator: Authenticator | None = None
        """Set by `Cluster.secure` where the virtual cluster `authenticates` clients."""
        self.work: trio.Nursery
        """Where tokens of kproxy's own are fetched, and clients authenticate again."""
        self._audit = Audit(counters.authentications, report)
        self._refusals = Refusals(report)
        self.errors = errors
        self._sasl = reauthentication(self) if authenticates else None
        self._ids: ProducerIds | None = None
        self.table = self._made()
        self.served, self.own = self.table.served(), self.table.own()
        self.retired_table = self.table

    def serve(self, ids: ProducerIds | None, *, retired: bool) -> None:
        """Set what connections get from now on.

        `ids` keeps producer ids of several Kafka clusters apart. `retired`: a retired node's listener leads to any
        present node; otherwise it only answers that the node is gone.
        """
        if (ids, self._limits) != (self._ids, self._limited):
            self._ids, self._limited = ids, self._limits
            self.table = self._made()
        self.retired_table = self.table if retired else self._going_away()

    @property
    def _limits(self) -> tuple[bool, bool]:
        """Which limits of principals there are."""
        return bool(self._rates), bool(self._connections)

    def _made(self) -> ApiTable:
        policies = composed(
            self._rebootstrap,
            self._telemetry,
            self._ids,
            self._groups,
            rates=self._rates,
            connections=self._connections if self._sasl is None else None,
            sasl=self._sasl,
            members=self._members,
            topics=self._topics,
            faults=self._faults,
            transactional_ids=self._transactional_ids,
        )
        return ApiTable(self.counters, policies)

    def _going_away(self) -> ApiTable:
        return ApiTable(self.counters, composed_retired(self._rebootstrap, self._sasl), only=RETIRED_KEYS)

    def audit(self, context: Context, mechanism: str, refused: str | None) -> None:
        """As `Audit`."""
        if refused is None:
            self._audit.accepted(context, mechanism)
        else:
            self._audit.refused(context, mechanism, refused, time.monotonic())

    def not_admitted(self, context: Context, reason: Reason, detail: str) -> None:
        """As `Refusals.ended`."""
        self._refusals.ended(context, reason, detail, time.monotonic())

    def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Have `work` done in a task; what it raises is a fault of kproxy's own, and ends nothing else."""
        self.work.start_soon(guarded, self.counters.troubles, Where.REQUEST, work)

    def authenticated(self, context: Context) -> None:
        """As `PrincipalConnections.note`."""
        self._connections.note(context)

    def hello(self, node_id: int | None) -> ApiVersionsResponse | None:
        """As `Hellos.of`, for a node of the active upstream."""
        address = None if node_id is None else self._nodes.addresses.upstream(node_id)
        return self._upstreams.active.hellos.of(address)

    async def identify(self, broker: Asked, where: str) -> float:
        """As `Upstream.log_in`, of the active one."""
        return await self._upstreams.active.log_in(broker, where, self.work)

    @property
    def upstream_tls(self) -> BrokerContext | None:
        """For connections to the active upstream's brokers."""
        return self._upstreams.active.tls

    @property
    def epoch(self) -> int:
        """The number of the present topology, which clients should know."""
        return self._rebootstrap.epoch.number

    @property
    def cluster_id(self) -> str | None:
        """As `Upstreams.cluster_id`."""
        return self._upstreams.cluster_id

    def answers_in_flight(self, context: Context) -> bool:
        """As `RebootstrapService.answers_in_flight`."""
        return self._rebootstrap.answers_in_flight(context)

    def brokers(self, local_host: str) -> Sequence[tuple[int, str, int, str | None]]:
        """The active cluster's nodes as advertised to a client that came in at `local_host`."""
        return self._nodes.advertised(self._upstreams.watcher.snapshot, local_host)

    def advertise(self, node_id: int, host: str, port: int, local_host: str) -> tuple[str, int]:
        """As `Nodes.advertise`."""
        return self._nodes.advertise(node_id, host, port, local_host)

    def learn(self, cluster_id: str | None, nodes: Sequence[UpstreamNode]) -> None:
        """Take the nodes that a passing response names, so that a change is noticed before the next poll.

        Nodes of another cluster get no ports here until the watcher has confirmed that cluster.
        """
        watcher = self._upstreams.watcher
        watcher.learn(cluster_id, nodes)
        # The last one that was confirmed, also while another is in doubt, which `cluster_id` does not tell.
        if watcher.snapshot is None or not another_cluster(watcher.snapshot.cluster_id, cluster_id):
            self._nodes.learn(nodes)

    def upstreams(self, node_id: int | None) -> Sequence[tuple[str, int]]:
        """As `Nodes.upstreams`, of the active upstream cluster."""
        return self._nodes.upstreams(node_id, self._upstreams.active.servers)

    def leads_back(self, node_id: int | None, host: str, port: int, name: str) -> bool:
        """Return whether a dial has come to the listener that it was for, or from the bootstrap listener to any."""
        found = self._nodes.listeners.listener_at(host, port, name)
        return found is not None and node_id in {None, found.node_id}

    def dialled(self, node_id: int | None, address: tuple[str, int], failure: Reason | None, error: str) -> None:
        """Count the outcome of a dial; after a failure the watcher polls soon, unless that was kproxy's own."""
        self._nodes.dialled(node_id, address, failure, error)
        if failure is not Reason.OUT_OF_DESCRIPTORS:
            self._upstreams.active.servers.dialled(address, None if failure is None else error)
        if failure not in (None, Reason.OUT_OF_DESCRIPTORS):
            self._upstreams.watcher.hint()

    def overtaken(self, address: tuple[str, int], why: str) -> None:
        """Lead the next clients elsewhere first: another server has answered sooner. The watcher asks this one too."""
        self._upstreams.active.servers.dialled(address, why)
