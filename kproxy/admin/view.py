"""What the admin port sees of the process: a read-only view that `app` implements. Called from the Trio thread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from kproxy.observe.counters import Counters


class State(StrEnum):
    """The life of the process, as `/readyz` tells it."""

    STARTING = "starting"
    READY = "ready"
    DEGRADED = "degraded"
    DRAINING = "draining"


@dataclass(frozen=True, slots=True)
class Cause:
    """Why the state is not `ready`: one line for people, and which cluster and node it is about."""

    cluster: str | None
    node: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Readiness:
    state: State
    reasons: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeView:
    """A broker: where it is ("host:port"), what clients are told, and whether it was reached when last tried."""

    node_id: int
    upstream: str
    advertised: str
    rack: str | None
    reachable: bool | None
    connections: int


@dataclass(frozen=True, slots=True)
class ClusterView:
    """A virtual cluster; `cluster_id` is Kafka's and unknown until a broker answered; `listen` is "host:port"."""

    name: str
    cluster_id: str | None
    bootstrap_servers: Sequence[str]
    listen: str
    nodes: Sequence[NodeView]
    connections: int
    epoch: int


@dataclass(frozen=True, slots=True)
class ConnectionView:
    """A client's connection. `node` is None at the bootstrap port; addresses are "host:port"; `since` is ISO 8601, UTC.

    `bytes_in` came from the client, `bytes_out` went to it; `paused` names the directions that backpressure holds, as
    in `kproxy_backpressure_pauses_total`.
    """

    id: int
    cluster: str
    node: int | None
    client: str
    upstream: str | None
    since: str
    client_id: str | None
    software_name: str | None
    software_version: str | None
    requests: int
    responses: int
    bytes_in: int
    bytes_out: int
    in_flight: int
    paused: tuple[str, ...]


class View(Protocol):
    """What `app` hands to the admin port. No method waits, none raises; what they return is not changed afterwards."""

    @property
    def counters(self) -> Counters: ...

    def readiness(self) -> Readiness: ...

    def clusters(self) -> Sequence[ClusterView]: ...

    def connections(self, cluster: str | None) -> Iterable[ConnectionView]:
        """Open connections by rising id, of one virtual cluster or all; lazy, so that a page costs what it shows."""
        ...
