"""A virtual cluster as the relay sees it: which addresses to dial, which to advertise, which policies apply.

The acceptor asks it for each client that connects. Policies ask it, as `Context.cluster`, for requests and responses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kproxy.cluster.policies import composed, composed_retired
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiPolicy, ApiTable
from kproxy.relay.apis import RETIRED_KEYS
from kproxy.routing.address_map import UpstreamNode

if TYPE_CHECKING:
    from kproxy.cluster.nodes import Nodes
    from kproxy.cluster.upstreams import Upstreams
    from kproxy.observe.counters import ClusterCounters
    from kproxy.producers.producer_ids import ProducerIds
    from kproxy.protocol.context import Context
    from kproxy.protocol.network import Networks
    from kproxy.rebootstrap.service import RebootstrapService
    from kproxy.upstream.tls import BrokerContext, ServerContext


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
        tls: ServerContext | None,
        balancers: Networks,
        max_connections: int | None,
    ) -> None:
        """The policies of client telemetry and of hosted groups are by api key; raises `CompositionError`."""
        self.counters = counters
        self._upstreams = upstreams
        self._nodes = nodes
        self._rebootstrap = rebootstrap
        self._telemetry = telemetry
        self._groups = groups
        self.tls = tls
        self.balancers = balancers
        self.max_connections = max_connections
        self._ids: ProducerIds | None = None
        self.table = ApiTable(counters, composed(rebootstrap, telemetry, None, groups))
        self.served, self.own = self.table.served(), self.table.own()
        self.retired_table = self.table

    def serve(self, ids: ProducerIds | None, *, retired: bool) -> None:
        """Set what connections get from now on.

        `ids` keeps producer ids of several Kafka clusters apart. `retired`: a retired node's listener leads to any
        present node; otherwise it only answers that the node is gone.
        """
        if ids != self._ids:
            self._ids = ids
            self.table = ApiTable(self.counters, composed(self._rebootstrap, self._telemetry, ids, self._groups))
        self.retired_table = self.table if retired else self._going_away()

    def _going_away(self) -> ApiTable:
        return ApiTable(self.counters, composed_retired(self._rebootstrap), only=RETIRED_KEYS)

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
        self._upstreams.watcher.learn(cluster_id, nodes)
        if cluster_id is None or self.cluster_id in (None, cluster_id):
            self._nodes.learn(nodes)

    def upstreams(self, node_id: int | None) -> Sequence[tuple[str, int]]:
        """As `Nodes.upstreams`, of the active upstream cluster."""
        return self._nodes.upstreams(node_id, self._upstreams.active.servers)

    def dialled(self, node_id: int | None, address: tuple[str, int], failure: Reason | None, error: str) -> None:
        """Count the outcome of a dial; after a failure the watcher polls soon, unless that was kproxy's own."""
        self._nodes.dialled(node_id, address, failure, error)
        if failure not in (None, Reason.OUT_OF_DESCRIPTORS):
            self._upstreams.watcher.hint()
