"""The records that the admin port shows: readiness, clusters, connections, clients, telemetry.

`ProcessView` returns them, made anew for each request. Addresses are "host:port", times are ISO 8601 in UTC. The API
answers most records as JSON objects with these fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """The state of the process, as `/readyz` reports it."""

    STARTING = "starting"
    READY = "ready"
    DEGRADED = "degraded"
    DRAINING = "draining"


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason why the state is not `ready`, and the cluster and node that it concerns, if any."""

    cluster: str | None
    node: int | None
    reason: str
    """One line for people."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """The state of the process, with its reasons."""

    state: State
    reasons: tuple[Cause, ...] = ()
    warnings: tuple[Cause, ...] = ()
    """What will be wrong unless somebody acts; it does not change the state."""


@dataclass(frozen=True, slots=True)
class NodeView:
    """A broker of the active upstream."""

    node_id: int
    upstream: str
    """Its own address."""
    advertised: str
    """The address that clients get instead."""
    rack: str | None
    reachable: bool | None
    """The result of the last attempt to connect; None before the first."""
    connections: int


@dataclass(frozen=True, slots=True)
class UnmappedView:
    """A broker without a port of kproxy's: instead of an answer that names it, a client's connection is closed."""

    node_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class UpstreamView:
    """A Kafka cluster that a virtual cluster may use."""

    name: str
    bootstrap_servers: Sequence[str]
    active: bool


@dataclass(frozen=True, slots=True)
class RetiredView:
    """The listener of a node that is gone."""

    node_id: int
    port: int
    seconds_left: float
    """Until the port is closed."""


@dataclass(frozen=True, slots=True)
class ClusterView:
    """A virtual cluster."""

    name: str
    cluster_id: str | None
    """Kafka's cluster id; None until a broker has answered."""
    bootstrap_servers: Sequence[str]
    """Those of the active upstream."""
    listen: str
    nodes: Sequence[NodeView]
    unmapped: Sequence[UnmappedView]
    connections: int
    epoch: int
    upstream: str
    """The name of the active upstream."""
    upstreams: Sequence[UpstreamView]
    retired: Sequence[RetiredView]
    telemetry: bool
    """True when kproxy serves telemetry (KIP-714) for it."""
    hosts_groups: bool
    """True when kproxy coordinates some of its consumer groups."""


@dataclass(frozen=True, slots=True)
class ConnectionView:
    """A client's connection."""

    id: int
    cluster: str
    node: int | None
    """None at the bootstrap port."""
    client: str
    upstream: str | None
    since: str
    client_id: str | None
    principal: str | None
    """The principal that the broker authenticated, as Kafka writes it; None when there is none or it is unknown."""
    software_name: str | None
    software_version: str | None
    requests: int
    responses: int
    bytes_in: int
    """Received from the client."""
    bytes_out: int
    """Sent to the client."""
    in_flight: int
    paused: tuple[str, ...]
    """The directions that backpressure holds, as in `kproxy_backpressure_pauses_total`."""


class Rebootstrap(StrEnum):
    """What brings a client back to its bootstrap servers when the topology is gone."""

    NOTIFY = "129"
    """REBOOTSTRAP_REQUIRED (KIP-1102)."""
    ALONE = "kip-899"
    """It bootstraps again by itself when it reaches none of its known nodes, if its configuration allows that."""
    NO = "no"
    """Only a restart."""
    UNKNOWN = "unknown"
    """It has not named its software, and its requests have not shown its abilities yet."""


@dataclass(frozen=True, slots=True)
class ClientView:
    """A client: all connections with the same host, client id, principal and software."""

    cluster: str
    host: str
    """Without a port."""
    client_id: str | None
    principal: str | None
    software_name: str | None
    software_version: str | None
    connections: int
    since: str
    """When the oldest of its connections was opened."""
    metadata_version: int | None
    """The highest version of its Metadata requests; None before the first."""
    rebootstrap: Rebootstrap
    kip_1242: bool | None
    """True where one of its connections has named the cluster or node that it means; None while unknown."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event in the life of a virtual cluster."""

    at: str
    event: str
    fields: Mapping[str, str | int | float | bool | None]
    """As in its log line."""


@dataclass(frozen=True, slots=True)
class SubscriptionView:
    """A client metrics subscription (KIP-714)."""

    name: str
    metrics: Sequence[str]
    """Prefixes of metric names."""
    interval_ms: int
    match: Mapping[str, str]
    """Regexes by client attribute."""
    fixed: bool
    """True when the configuration sets it: nothing else can change it."""


@dataclass(frozen=True, slots=True)
class InstanceView:
    """A client instance that asked for subscriptions or pushed metrics (KIP-714)."""

    id: str
    """As Kafka prints it."""
    client: str
    client_id: str | None
    software_name: str | None
    software_version: str | None
    subscriptions: Sequence[str]
    """The names of the subscriptions that match it."""
    interval_ms: int
    last_seen: str
    last_push: str | None
    """None before the first."""
    pushes: int
    """Accepted pushes."""
    bytes: int
    """Size of the accepted pushes, as received."""
    last_error: str | None
    """Kafka's name of the error, if the last push was refused."""
    last_error_reason: str | None
    """What was wrong with it, for people."""
    dropped_points: int
    """Data points of accepted pushes that are not on /metrics/clients."""
    dropped_reason: str | None
    """Why, of the last ones: as in `kproxy_telemetry_points_dropped_total`."""


@dataclass(frozen=True, slots=True)
class GroupView:
    """A hosted group."""

    group: str
    state: str
    """As Kafka names it."""
    generation: int
    protocol_type: str | None
    protocol: str | None
    """Of the present generation; None while there is none."""
    members: int
    leader: str | None
    """The member id of the member that assigns."""
    in_state_seconds: float


@dataclass(frozen=True, slots=True)
class GroupMemberView:
    """A member of a hosted group."""

    member: str
    """Its member id."""
    instance: str | None
    """group.instance.id of a static member (KIP-345)."""
    client_id: str
    host: str
    leader: bool
    waits: str | None
    """The API of its request that waits, as JoinGroup; None without one."""
    session_timeout: float
    """Seconds."""
    session_ends: float | None
    """Seconds until it is removed unless it is heard of."""
    protocols: Sequence[str]
    assignment: Mapping[str, Sequence[int]] | None
    """Partitions by topic; None where its assignment is not a consumer's."""
    assignment_bytes: int


@dataclass(frozen=True, slots=True)
class PartitionLagView:
    """A partition of a hosted group: one that has a committed offset, or that a member is assigned."""

    topic: str
    partition: int
    committed: int | None
    """The offset; None where nothing is committed."""
    end: int | None
    """The offset of the next record; None where the broker does not say."""
    lag: int | None
    """The records that are not committed; None without one of the two."""
    error: str | None
    """Kafka's name of the error, or why its leader could not be asked."""
    client_id: str | None
    """Of the member that is assigned it; None where none is."""
    host: str | None
    """That member's."""


@dataclass(frozen=True, slots=True)
class ReloadResult:
    """The settings that a reload has changed, dotted: of the process, and by virtual cluster."""

    process: Sequence[str]
    clusters: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The state of a virtual cluster after a command."""

    cluster: str
    upstream: str
    """The name of the active upstream."""
    epoch: int
    connections: int
    """How many connections were notified or closed."""
    unmapped: Sequence[UnmappedView] = ()
    """Nodes of the active upstream without a port: empty unless a switch was forced."""
