"""What the admin port shows: readiness, clusters, connections, clients, telemetry. Values that `app` makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


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
class UnmappedView:
    """A broker for which kproxy has no port, and why: a client that would hear of it is closed instead."""

    node_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class UpstreamView:
    """A backend cluster that may stand behind a virtual cluster; servers are "host:port"."""

    name: str
    bootstrap_servers: Sequence[str]
    active: bool


@dataclass(frozen=True, slots=True)
class RetiredView:
    """The listener of a node that is gone: its port, and for how many seconds more it stays up."""

    node_id: int
    port: int
    seconds_left: float


@dataclass(frozen=True, slots=True)
class ClusterView:
    """A virtual cluster; `cluster_id` is Kafka's and unknown until a broker answered; `listen` is "host:port".

    `upstream` names the active one of `upstreams`, whose are `bootstrap_servers`. `telemetry`: kproxy serves it.
    """

    name: str
    cluster_id: str | None
    bootstrap_servers: Sequence[str]
    listen: str
    nodes: Sequence[NodeView]
    unmapped: Sequence[UnmappedView]
    connections: int
    epoch: int
    upstream: str
    upstreams: Sequence[UpstreamView]
    retired: Sequence[RetiredView]
    telemetry: bool


@dataclass(frozen=True, slots=True)
class ConnectionView:
    """A client's connection. `node` is None at the bootstrap port; addresses are "host:port"; `since` is ISO 8601, UTC.

    `principal` is whom the broker authenticated, as Kafka writes it; None when it did not, or not as far as is known.
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
    principal: str | None
    software_name: str | None
    software_version: str | None
    requests: int
    responses: int
    bytes_in: int
    bytes_out: int
    in_flight: int
    paused: tuple[str, ...]


class Rebootstrap(StrEnum):
    """What brings a client back to its bootstrap servers when the topology is gone."""

    NOTIFY = "129"
    """REBOOTSTRAP_REQUIRED (KIP-1102)."""
    ALONE = "kip-899"
    """It finds out by itself when no node that it knows can be reached, where its configuration lets it."""
    NO = "no"
    """Nothing but a restart."""
    UNKNOWN = "unknown"
    """It does not say what it is, and has not shown it either."""


@dataclass(frozen=True, slots=True)
class ClientView:
    """Connections of clients that cannot be told apart; `host` has no port, `principal` is as in `ConnectionView`.

    `since` is when the oldest of the `connections` came, ISO 8601, UTC; `metadata_version` the highest version of
    Metadata that was asked for, None before.
    """

    cluster: str
    host: str
    client_id: str | None
    principal: str | None
    software_name: str | None
    software_version: str | None
    connections: int
    since: str
    metadata_version: int | None
    rebootstrap: Rebootstrap


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a virtual cluster: `at` is ISO 8601, UTC; `fields` as its log line has them."""

    at: str
    event: str
    fields: Mapping[str, str | int | float | bool | None]


@dataclass(frozen=True, slots=True)
class SubscriptionView:
    """A client metrics subscription (KIP-714). `metrics` are prefixes of names; `match` has regexes by attribute.

    `fixed`: the configuration sets it, and nothing else changes it.
    """

    name: str
    metrics: Sequence[str]
    interval_ms: int
    match: Mapping[str, str]
    fixed: bool


@dataclass(frozen=True, slots=True)
class InstanceView:
    """A client instance that asked for subscriptions or pushed: `id` as Kafka prints it, `client` is "host:port".

    `subscriptions` names those that match it. Times are ISO 8601, UTC; `last_push` is None before the first. `pushes`
    and `bytes`, as they came, are of accepted ones; `last_error` is Kafka's name of the error of its last push, if it
    was refused.
    """

    id: str
    client: str
    client_id: str | None
    software_name: str | None
    software_version: str | None
    subscriptions: Sequence[str]
    interval_ms: int
    last_seen: str
    last_push: str | None
    pushes: int
    bytes: int
    last_error: str | None


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What an order did: the active upstream, the new epoch, and how many connections were told or closed for it.

    `unmapped` are the upstream's nodes that have no port: there are none unless a switch was forced.
    """

    cluster: str
    upstream: str
    epoch: int
    connections: int
    unmapped: Sequence[UnmappedView] = ()
