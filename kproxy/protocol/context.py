# This module is pure and compiled.
"""What the handlers of a connection's requests and responses may know and say: no socket, no clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

from kproxy.observe.counters import ClusterCounters
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.rebootstrap.actions import Action, Trigger

if TYPE_CHECKING:
    from kproxy.relay.sasl import Exchanges

NEWEST_METADATA: Final = 13
"""The highest version of Metadata in Kafka's schemas, and the first whose response can say 129."""


class Backend(Protocol):
    """The virtual cluster behind a connection."""

    counters: ClusterCounters

    @property
    def cluster_id(self) -> str | None:
        """The backend's cluster id, or None as long as it is not known."""

    @property
    def served(self) -> tuple[tuple[int, int, int], ...]:
        """What the proxy serves: api key, lowest and highest version."""

    @property
    def own(self) -> tuple[tuple[int, int, int], ...]:
        """What the proxy serves whatever the broker knows: api key, lowest and highest version."""

    def advertise(self, node_id: int, host: str, port: int, local_host: str) -> tuple[str, int]:
        """What a client is told for a node that the broker says is at host:port; its port is bound on return."""

    def learn(self, cluster_id: str | None, nodes: Sequence[tuple[int, str, int]]) -> None:
        """The cluster's id, where it is told, and all its nodes (id, host, port), as a passing response has them."""

    @property
    def epoch(self) -> int:
        """The number of the cluster's topology; connections of an earlier one are stale."""

    def judge(self, context: Context, ask: Trigger) -> Action:
        """What a client gets for what it asks; a decision other than SERVE is counted, so ask once for each request."""

    def forgets_leader_epochs(self, context: Context, cluster_id: str | None) -> bool:
        """Whether the client may know leader epochs of another cluster than this one, and would believe no lower ones.

        Asked once for each Metadata response that has epochs: what is not forgotten is known from then on.
        """

    def hides_topic_ids(self, context: Context) -> bool:
        """Whether the client is told neither topic ids nor leader epochs, so that it goes by names at every cluster."""

    def brokers(self, local_host: str) -> Sequence[tuple[int, str, int, str | None]]:
        """The present nodes as a client at `local_host` is told them: id, host, port, rack; their ports are bound."""


class Context:
    """One client connection: `node_id` is None where the client came in by the bootstrap listener.

    `retired` where it came in by a listener whose node is gone. `metadata_version` is the highest Metadata version that
    the client used, -1 before; `metadata_upstream` the highest that its broker serves, as far as is known. `told` is
    the correlation id of the request whose response is to say 129, when the broker answers it; `told_in` the epoch in
    which it was decided to tell the client. `principal` is whom the broker authenticated, as Kafka writes it
    ("User:alice"); None where that is not known. `sasl` is there while it may be about to be told. `by_topic_id` are
    the correlation ids of Metadata requests that ask by topic id, of a client from which ids are hidden otherwise.
    `cluster_id` is the Kafka cluster at the other end of this connection, once a response on it has named it; "" where
    its broker was asked and names none.
    """

    __slots__ = (
        "backend",
        "by_topic_id",
        "client",
        "client_id",
        "cluster_id",
        "epoch",
        "local_host",
        "metadata_upstream",
        "metadata_version",
        "node_id",
        "principal",
        "retired",
        "sasl",
        "software",
        "software_label",
        "told",
        "told_in",
    )

    def __init__(
        self, backend: Backend, node_id: int | None, client: str, local_host: str, *, retired: bool = False
    ) -> None:
        self.backend = backend
        self.node_id = node_id
        self.client = client
        self.local_host = local_host
        self.retired = retired
        self.epoch = backend.epoch
        self.metadata_version = -1
        self.metadata_upstream = NEWEST_METADATA
        self.by_topic_id: frozenset[int] = frozenset()
        self.told: int | None = None
        self.told_in: int | None = None
        self.client_id: str | None = None
        self.cluster_id: str | None = None
        self.principal: str | None = None
        self.sasl: Exchanges | None = None
        self.software: tuple[str, str] | None = None
        self.software_label: tuple[str, str] | None = None

    @property
    def host(self) -> str:
        """The client's address without its port."""
        return self.client.rpartition(":")[0].strip("[]")

    @property
    def port(self) -> int | None:
        """The client's port; None where it had gone before it was asked for its address."""
        port = self.client.rpartition(":")[2]
        return int(port) if port.isdigit() else None

    @property
    def stale(self) -> bool:
        """Whether the topology that the client came with is gone."""
        return self.epoch < self.backend.epoch

    def advertise(self, node_id: int, host: str, port: int) -> tuple[str, int]:
        """What this client is told for a node; an absent one (id -1, no host) stays absent.

        Raises `Fault` on a stale connection: what its broker names may be a node of another cluster by now.
        """
        if node_id < 0 or not host:
            return host, port
        if self.stale:
            raise Fault(Reason.REBOOTSTRAP, f"node {node_id} is named by a broker of the topology before")
        return self.backend.advertise(node_id, host, port, self.local_host)

    def introduce(self, name: str, version: str) -> None:
        """Note which software the client says it is (KIP-511); counted once a connection."""
        self.software = (name, version)
        if self.software_label is None:
            self.software_label = self.backend.counters.software.opened(name, version)
