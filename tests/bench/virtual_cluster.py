"""A virtual cluster for the relay, without listeners and brokers: the address map and counters of `serve`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kproxy.cluster.error_reports import ErrorReports
from kproxy.cluster.policies import composed
from kproxy.observe.counters import ClusterCounters
from kproxy.protocol.api_table import ApiTable
from kproxy.protocol.context import Context
from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.routing.address_map import AddressMap
from kproxy.routing.places import Place
from kproxy.routing.ports import AutomaticPorts
from kproxy.transactions.transactional_ids import TransactionalIds

PROXY_HOST: Final = "proxy.example.org"


@dataclass
class _Listener:
    """A listener that opens no port."""

    node_id: int | None
    place: Place
    retired: float | None = None

    def close(self) -> None:
        """Do nothing."""


class VirtualCluster:
    """A virtual cluster for connections that are relayed without a process around them; its ports are not opened."""

    def __init__(self, *, notes_transactions: bool = True) -> None:
        self.epoch = 0
        self.errors = ErrorReports(lambda: False, lambda _: None)
        self.own: tuple[tuple[int, int, int], ...] = ()
        self.counters = ClusterCounters("bench")
        self.cluster_id = "bench"
        ids = TransactionalIds() if notes_transactions else None
        self.table = ApiTable(self.counters, composed(self, {}, None, transactional_ids=ids))
        self.served = self.table.served()
        self._addresses = AddressMap(AutomaticPorts(20_000, host=PROXY_HOST), _Listener)

    def advertise(self, node_id: int, host: str, port: int, local_host: str) -> tuple[str, int]:
        """As `kproxy.protocol.context.VirtualCluster` says."""
        return self._addresses.advertise(node_id, host, port, local_host)

    def decide(self, context: Context, trigger: Trigger) -> Action:
        """As `kproxy.protocol.context.VirtualCluster` says."""
        del context, trigger
        return Action.SERVE

    def answers_in_flight(self, context: Context) -> bool:
        """As `kproxy.protocol.context.VirtualCluster` says."""
        del context
        return False

    @property
    def may_know_another(self) -> bool:
        """As `kproxy.rebootstrap.answers.Rebootstrap` says."""
        return self.epoch > 0

    def keeps_leader_epochs(self, context: Context) -> bool:
        """As `kproxy.rebootstrap.answers.Rebootstrap` says."""
        del context
        return False

    def forgets_leader_epochs(self, context: Context, cluster_id: str | None) -> bool:
        """As `kproxy.protocol.context.VirtualCluster` says."""
        del context, cluster_id
        return False

    def hides_topic_ids(self, context: Context) -> bool:
        """As `kproxy.protocol.context.VirtualCluster` says."""
        del context
        return False

    def brokers(self, local_host: str) -> Sequence[tuple[int, str, int, str | None]]:
        """As `kproxy.protocol.context.VirtualCluster` says."""
        del local_host
        return ()

    def learn(self, cluster_id: str | None, nodes: Sequence[tuple[int, str, int]]) -> None:
        """As `kproxy.protocol.context.VirtualCluster` says."""
        self._addresses.learn(nodes)

    def context(self) -> Context:
        """Return the context of a client of the bootstrap listener."""
        return Context(self, None, "127.0.0.1:1", "127.0.0.1")
