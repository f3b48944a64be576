"""A virtual cluster as the relay asks for it: whom to dial, what clients are told, what each of their APIs gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kproxy.observe.reasons import Reason
from kproxy.producers import policies as producers
from kproxy.protocol.api_table import ApiPolicy, ApiTable
from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.relay.apis import POLICIES, retired_table
from kproxy.routing.address_map import UpstreamNode

if TYPE_CHECKING:
    from kproxy.cluster.cluster import Cluster
    from kproxy.producers.producer_ids import ProducerIds
    from kproxy.protocol.context import Context


class ClusterDestination:
    """As `kproxy.relay.acceptor.Destination`; what it answers is decided elsewhere, and may change at any time."""

    def __init__(self, cluster: Cluster, policies: Mapping[int, ApiPolicy]) -> None:
        self.counters = cluster.counters
        self._policies = {**POLICIES, **policies}
        self._ids: ProducerIds | None = None
        self.table = ApiTable(cluster.counters, self._policies)
        self.served, self.own = self.table.served(), self.table.own()
        self.retired_table = self.table
        self._cluster = cluster

    def serve(self, *, retired: bool) -> None:
        """What connections from now on get; `retired`: those to a retired node's port, too, at any present node."""
        ids = self._cluster.producer_ids
        if ids != self._ids:
            self._ids = ids
            self.table = ApiTable(self.counters, {**self._policies, **({} if ids is None else producers.policies(ids))})
        self.retired_table = self.table if retired else retired_table(self.counters)

    @property
    def epoch(self) -> int:
        """The number of the topology that clients are to know."""
        return self._cluster.rebootstrap.epoch.number

    @property
    def cluster_id(self) -> str | None:
        """As `Cluster.cluster_id`."""
        return self._cluster.cluster_id

    def judge(self, context: Context, ask: Trigger) -> Action:
        """As `Rebootstrap.judge`."""
        return self._cluster.rebootstrap.judge(context, ask)

    def forgets_leader_epochs(self, context: Context, cluster_id: str | None) -> bool:
        """As `Rebootstrap.forgets_leader_epochs`."""
        return self._cluster.rebootstrap.forgets_leader_epochs(context, cluster_id)

    def hides_topic_ids(self, context: Context) -> bool:
        """As `Rebootstrap.hides_topic_ids`."""
        return self._cluster.rebootstrap.hides_topic_ids(context)

    def brokers(self, local_host: str) -> Sequence[tuple[int, str, int, str | None]]:
        """The active cluster's nodes as a client that came in at `local_host` is told them."""
        return self._cluster.nodes.told(self._cluster.watcher.snapshot, local_host)

    def advertise(self, node_id: int, host: str, port: int, local_host: str) -> tuple[str, int]:
        """As `Nodes.advertise`."""
        return self._cluster.nodes.advertise(node_id, host, port, local_host)

    def learn(self, cluster_id: str | None, nodes: Sequence[UpstreamNode]) -> None:
        """What a response that passes says of the nodes, so that a change is seen before the next poll.

        Another cluster's nodes are not to be reached at this one's ports before the watcher has made sure of it.
        """
        self._cluster.watcher.learn(cluster_id, nodes)
        if cluster_id is None or self.cluster_id in (None, cluster_id):
            self._cluster.nodes.learn(nodes)

    def upstreams(self, node_id: int | None) -> Sequence[tuple[str, int]]:
        """As `Nodes.upstreams`, of the active upstream cluster."""
        return self._cluster.nodes.upstreams(node_id, self._cluster.active.servers)

    def dialled(self, node_id: int | None, address: tuple[str, int], failure: Reason | None, error: str) -> None:
        """Count how dialling went; a failure has the watcher look at once."""
        self._cluster.nodes.dialled(node_id, address, failure, error)
        if failure is not None:
            self._cluster.watcher.hint()
