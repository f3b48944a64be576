# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""One client connection as handlers see it: who the client is, and the virtual cluster that it has reached.

The acceptor makes one for each client. Every handler of a request or a response gets it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeVar, cast

from kproxy.observe.counters import ClusterCounters
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.protocol.sasl_tokens import Unframed
from kproxy.wire.arriving import ArrivingWalk

S = TypeVar("S")
OUTDATED = -1
"""The epoch of a connection that is stale whatever the cluster's epoch is."""
_NEVER: Final = float("inf")
MAX_NAME: Final = 256
"""Characters that are kept of a client id, and of a software's name and version. Kafka's protocol allows 32,767 bytes,
which a client could have kproxy hold for each of its connections. The broker gets all of them.
"""


class ErrorReports(Protocol):
    """Reports errors that clients get from brokers, where somebody listens."""

    def wants(self, api_key: int, code: int, now: float) -> bool:
        """Return True for an error to be passed to `answered`; `now` is in seconds, by any clock."""

    def answered(
        self, context: Context, api_key: int, version: int, code: int, topic: str | None, group: str | None
    ) -> None:
        """Report an error that a client gets, about a topic and a group where these are known."""


class VirtualCluster(Protocol):
    """The virtual cluster behind a connection."""

    counters: ClusterCounters

    @property
    def errors(self) -> ErrorReports:
        """Whom to tell of error codes."""

    @property
    def cluster_id(self) -> str | None:
        """Kafka's id of the active upstream cluster; None while it is not known."""

    @property
    def served(self) -> tuple[tuple[int, int, int], ...]:
        """The APIs that the proxy serves: api key, lowest and highest version."""

    @property
    def own(self) -> tuple[tuple[int, int, int], ...]:
        """The APIs that the proxy serves whatever the broker knows: api key, lowest and highest version."""

    @property
    def epoch(self) -> int:
        """The number of the cluster's topology; connections with a lower one are stale."""

    def advertise(self, node_id: int, host: str, port: int, local_host: str) -> tuple[str, int]:
        """Return the advertised address of a node that the broker says is at host:port; its port is bound by then."""

    def learn(self, cluster_id: str | None, nodes: Sequence[tuple[int, str, int]]) -> None:
        """Take over all nodes (id, host, port), and the cluster's id or None, from a passing response."""

    def answers_in_flight(self, context: Context) -> bool:
        """Return whether to answer a stale connection's requests in flight in place of its broker; counted if so."""

    def brokers(self, local_host: str) -> Sequence[tuple[int, str, int, str | None]]:
        """Return the present nodes as advertised at `local_host`: id, host, port, rack; their ports are bound."""


class ConnectionState:
    """The base of a room's state that outlives its connection; `gone` says that the connection has ended.

    A class based on it must be in a compiled module.
    """

    __slots__ = ("gone",)

    def __init__(self) -> None:
        self.gone = False


class Context:
    """One client connection, without its sockets."""

    __slots__ = (
        "_states",
        "client",
        "client_id",
        "cluster",
        "cluster_id",
        "epoch",
        "id",
        "is_member",
        "kip_1242",
        "local_host",
        "metadata_version",
        "node_id",
        "opened",
        "principal",
        "renew_at",
        "retired",
        "session_ends",
        "software",
        "software_label",
        "unframed",
        "walk",
    )

    def __init__(
        self, cluster: VirtualCluster, node_id: int | None, client: str, local_host: str, *, retired: bool = False
    ) -> None:
        self.id = 0
        """The connection's number; 0 until it is relayed."""
        self.opened = 0.0
        """When it was relayed first, in seconds since the Unix epoch; 0 until then."""
        self.cluster = cluster
        self.node_id = node_id
        """The node of the listener that accepted the client; None for the bootstrap listener."""
        self.client = client
        """The client's address, "host:port"."""
        self.local_host = local_host
        """The address at which the client reached kproxy."""
        self.retired = retired
        """True when the listener's node had left the topology."""
        self.epoch = cluster.epoch
        """The cluster's epoch when the connection was accepted."""
        self.metadata_version = -1
        """The highest version of Metadata that the client has used; -1 before the first."""
        self.kip_1242: bool | None = None
        """True once the client has named the cluster or the node that it means (KIP-1242), False where its version of
        ApiVersions has no room for them; None while unknown, as at a bootstrap server, where it knows neither yet.
        """
        self.is_member = False
        """True once a group's member has spoken to its coordinator here; clients have a connection for that alone."""
        self.client_id: str | None = None
        self.cluster_id: str | None = None
        """Kafka's id of the cluster that this connection's broker belongs to; None until a response names it.

        "" where the broker was asked and names none.
        """
        self.principal: str | None = None
        """The principal that the broker or kproxy authenticated ("User:alice"); None where unknown."""
        self.session_ends = _NEVER
        """When the client must have authenticated to kproxy again (KIP-368): seconds, monotonic."""
        self.renew_at = _NEVER
        """When kproxy authenticates to the broker again, before its own session there ends: seconds, monotonic."""
        self.software: tuple[str, str] | None = None
        """Name and version of the client's software, as it reports them (KIP-511)."""
        self.software_label: tuple[str, str] | None = None
        self.unframed: Unframed | None = None
        """Set while the client's bytes are SASL tokens without Kafka's header (SaslHandshake v0)."""
        self.walk: ArrivingWalk | None = None
        """The walk over the frame that a handler is called for, if that frame came in pieces; see `walked`."""
        self._states: dict[object, object] | None = None

    def state(self, kind: Callable[[], S]) -> S:
        """Return what a room keeps about this connection: an instance of its own class, made at the first call."""
        found = self.find(kind)
        if found is None:
            found = kind()
            if self._states is None:
                self._states = {}
            self._states[kind] = found
        return found

    def find(self, kind: Callable[[], S]) -> S | None:
        """Return the same as `state`, but None where the room keeps nothing yet."""
        states = self._states
        return None if states is None else cast("S | None", states.get(kind))

    def end(self) -> None:
        """Note in each `ConnectionState` that the connection has ended."""
        for state in () if self._states is None else self._states.values():
            if isinstance(state, ConnectionState):
                state.gone = True

    def forget(self, kind: Callable[[], S]) -> None:
        """Drop the state of this kind, if there is one."""
        if self._states is not None:
            self._states.pop(kind, None)

    @property
    def host(self) -> str:
        """The client's address without its port."""
        return self.client.rpartition(":")[0].strip("[]")

    @property
    def port(self) -> int | None:
        """The client's port; None where the client was gone before its address was read."""
        port = self.client.rpartition(":")[2]
        return int(port) if port.isdigit() else None

    @property
    def stale(self) -> bool:
        """True when the connection belongs to an earlier epoch of its cluster."""
        return self.epoch < self.cluster.epoch

    def advertise(self, node_id: int, host: str, port: int) -> tuple[str, int]:
        """Return a node's address as advertised to this client; an absent node (id -1, no host) stays absent.

        Raises `Fault` on a stale connection: its broker may name a node of another cluster.
        """
        if node_id < 0 or not host:
            return host, port
        if self.stale:
            raise Fault(Reason.REBOOTSTRAP, f"node {node_id} is named by a broker of an earlier topology")
        return self.cluster.advertise(node_id, host, port, self.local_host)

    def introduce(self, name: str, version: str) -> None:
        """Note the software that the client names (KIP-511), cut; it is counted once per connection."""
        self.software = (name[:MAX_NAME], version[:MAX_NAME])
        if self.software_label is None:
            self.software_label = self.cluster.counters.software.opened(name, version)
