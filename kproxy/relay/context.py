"""What the handlers of a connection's requests and responses may know and say: no socket, no clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kproxy.observe.counters import ClusterCounters


class Backend(Protocol):
    """The virtual cluster behind a connection."""

    counters: ClusterCounters

    @property
    def cluster_id(self) -> str | None:
        """The backend's cluster id, or None as long as it is not known."""

    @property
    def served(self) -> tuple[tuple[int, int, int], ...]:
        """What the proxy serves: api key, lowest and highest version."""

    def advertise(self, node_id: int, host: str, port: int, local_host: str) -> tuple[str, int]:
        """What a client is told for a node that the broker says is at host:port; its port is bound on return."""

    def learn(self, nodes: Sequence[tuple[int, str, int]]) -> None:
        """All nodes (id, host, port) of the cluster, as a response that passes tells them."""


class Context:
    """One client connection: `node_id` is None where the client came in by the bootstrap listener."""

    __slots__ = ("backend", "client", "client_id", "local_host", "node_id", "software", "software_label")

    def __init__(self, backend: Backend, node_id: int | None, client: str, local_host: str) -> None:
        self.backend = backend
        self.node_id = node_id
        self.client = client
        self.local_host = local_host
        self.client_id: str | None = None
        self.software: tuple[str, str] | None = None
        self.software_label: tuple[str, str] | None = None

    def advertise(self, node_id: int, host: str, port: int) -> tuple[str, int]:
        """What this client is told for a node; an absent one (id -1, no host) stays absent."""
        if node_id < 0 or not host:
            return host, port
        return self.backend.advertise(node_id, host, port, self.local_host)

    def introduce(self, client_id: str | None, name: str, version: str) -> None:
        """Note who the client says it is (KIP-511); counted once a connection."""
        self.client_id = client_id
        self.software = (name, version)
        if self.software_label is None:
            self.software_label = self.backend.counters.software.opened(name, version)
