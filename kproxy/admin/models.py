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
class UpstreamNodeView:
    """A broker that an upstream named when it last answered."""

    node_id: int
    upstream: str
    """Its own address."""
    reachable: bool | None
    """The result of the last probe; None before the first."""


@dataclass(frozen=True, slots=True)
class UpstreamView:
    """A Kafka cluster that a virtual cluster may use, as kproxy saw it when it last looked."""

    name: str
    bootstrap_servers: Sequence[str]
    active: bool
    reachable: bool | None
    """Whether it answered the last poll; None before the first."""
    since: str | None
    """When that last changed."""
    error: str | None
    """Why the last poll failed, if it did."""
    last_answer: str | None
    """When it last answered; None before the first."""
    cluster_id: str | None
    """As it last said."""
    nodes: Sequence[UpstreamNodeView]
    unmapped: Sequence[UnmappedView]
    """Its nodes without a port; of a standby, those that would have none."""
    fit: bool | None
    """Whether an automatic failover would go there now; None for the active one."""
    warnings: Sequence[str]
    """What stands against a standby; not all of it makes it unfit."""


@dataclass(frozen=True, slots=True)
class RetiredView:
    """The listener of a node that is gone."""

    node_id: int
    port: int
    seconds_left: float
    """Until it is closed."""
    name: str | None = None
    """By which clients ask for it, where nodes share the port by name."""


@dataclass(frozen=True, slots=True)
class PlaceView:
    """A place where orders to fail over are kept: the copy at an upstream cluster."""

    name: str
    readable: bool
    error: str | None
    """Why it cannot be read."""
    order: int | None
    """The number of the newest order that is there; None when there is none, or it is unknown."""


@dataclass(frozen=True, slots=True)
class AgreementView:
    """The newest order to fail over that this replica knows; its fields are None before the first."""

    order: int | None
    upstream: str | None
    """Which is to be active."""
    replica: str | None
    """Who gave it; `this_replica` is the one that answers."""
    this_replica: str
    at: str | None
    cause: str | None
    """`operator`, `automatic`, `reload` or `state`."""
    pending: bool
    """Whether it is not in force here yet."""
    places: Sequence[PlaceView]


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
    agreement: AgreementView | None
    """What replicas agree on; None where each is switched for itself."""
    retired: Sequence[RetiredView]
    telemetry: bool
    """True when kproxy serves telemetry (KIP-714) for it."""
    hosts_groups: bool
    """True when kproxy coordinates some of its consumer groups."""
    faults: bool
    """True when faults may be injected, for tests."""


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
class FaultRuleView:
    """A rule by which faults are injected; `error` to `half` are as in the configuration, null or false without."""

    id: int
    api: str
    client_id: str | None
    software: str | None
    error: str | None
    delay: float | None
    close: bool
    half: str | None
    rate: float
    count: int | None
    hits: int
    """Requests that it has hit so far."""
    seconds: float | None
    """For how long it still holds; null without an end."""
    fixed: bool
    """True when the configuration has it: nothing else can remove it."""


@dataclass(frozen=True, slots=True)
class ProducerErrorView:
    """An error that a transactional producer got."""

    at: str
    api: str
    error: str
    """Kafka's name."""
    error_class: str
    """By KIP-1050: what the application does about it."""


@dataclass(frozen=True, slots=True)
class FencedProducerView:
    """A producer of a transactional id whose epoch was over when it was heard of last."""

    at: str
    client_id: str | None
    host: str
    software_name: str | None
    software_version: str | None
    principal: str | None
    producer_epoch: int | None
    error: str
    """Kafka's name."""


@dataclass(frozen=True, slots=True)
class TransactionalIdView:
    """A transactional id, by what passed through this kproxy."""

    cluster: str
    transactional_id: str
    state: str
    """`empty`, `begun`, `committed`, `aborted`, `fenced` or `timed_out`."""
    since: str
    """When it came to this state: of one that is `begun`, when the transaction began."""
    ending: str | None
    """`committed` or `aborted` while the answer to its EndTxn has not come; None otherwise."""
    transaction_timeout: float | None
    """Seconds, as the producer has set it; None where its InitProducerId did not pass here."""
    producer_id: int | None
    """As brokers know it."""
    producer_epoch: int | None
    client_id: str | None
    """Of the client that used it last, as the next four."""
    host: str
    software_name: str | None
    software_version: str | None
    principal: str | None
    begun: str | None
    """When the present transaction, or else the last one, began; None where that did not pass here."""
    partitions: int | None
    """Partitions that its producer has added to it; None where the broker adds them, as in TV2 (KIP-890)."""
    groups: Sequence[str]
    """Some groups of which it has offsets."""
    last_result: str | None
    """How the last transaction ended; None before the first."""
    last_cause: str | None
    """What ended it: `end_txn`, `init_producer_id`, `fenced`, `timeout` or `failover`."""
    last_ended: str | None
    committed: int
    """Transactions since the id was seen first."""
    aborted: int
    """Those that ended in any other way."""
    last_error: ProducerErrorView | None
    fencings: int
    """How many producers were fenced."""
    last_fenced: FencedProducerView | None


@dataclass(frozen=True, slots=True)
class ReloadResult:
    """The settings that a reload has changed, dotted: of the process, and by virtual cluster.

    `added` and `removed` are the names of virtual clusters.
    """

    process: Sequence[str]
    clusters: Mapping[str, Sequence[str]]
    added: Sequence[str] = ()
    removed: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FailoverFinding:
    """One line about a failover that was not made."""

    weight: str
    """`refuses`: it would be refused, unless it is forced; `warns`: clients would notice; `notes`: good to know."""
    about: str
    """`cluster`, `nodes`, `topics`, `groups` or `clients`."""
    detail: str


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a failover would mean; nothing has changed."""

    cluster: str
    upstream: str
    """The upstream that would become active."""
    refused: bool
    findings: Sequence[FailoverFinding]


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
    unkept: str | None = None
    """Why a restart of kproxy would begin at the upstream of before; None if not, or where no state is kept."""
