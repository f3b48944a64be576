# This module is pure (no I/O, no clock).
"""Every event of the stream, defined once: its name, its fields with types and meaning, its log line.

kproxy.app.client_events makes the events of clients, kproxy.cluster and kproxy.rebootstrap those of topologies, when
they happen. `EventStream` encodes each for delivery.

The JSON that is written, the log line, the tables of docs/events.md and the schema for Spark are made from these
classes; see `kproxy.observe.event_schema`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, ClassVar, Final, NamedTuple

SCHEMA: Final = 1
"""Rises when a field is removed or changes its meaning; not when one is added."""
MAX_TEXT: Final = 256
"""The most characters to keep of a text from a client: the wire allows 32,767."""


class Name(StrEnum):
    """What happened."""

    CLIENT_CONNECTED = "client_connected"
    CLIENT_PRESENT = "client_present"
    CLIENT_DISCONNECTED = "client_disconnected"
    TOPOLOGY_CHANGED = "topology_changed"
    CLIENTS_REBOOTSTRAP = "clients_rebootstrap"
    CLIENTS_SENT_TO_SIBLINGS = "clients_sent_to_siblings"
    UPSTREAM_PASSED_OVER = "upstream_passed_over"
    NO_UPSTREAM_ANSWERS = "no_upstream_answers"
    STANDBY_REPLACED = "standby_replaced"
    GROUP_TRANSITION = "group_transition"
    ERROR_ANSWERED = "error_answered"
    OPERATOR_COMMAND = "operator_command"
    AUTHENTICATION = "authentication"
    ADMISSION_REFUSED = "admission_refused"
    FAULT_INJECTED = "fault_injected"


def _means(text: str) -> Any:
    """Return a dataclass field with its meaning."""
    return field(metadata={"help": text})


_UPSTREAM: Final = "The active upstream cluster, by its name"
_CLUSTER_ID: Final = "Kafka's id of the cluster, where it changed"


# Not frozen, though nothing changes them: one would take four times as long to make, and this module 4 ms more to load.
@dataclass(slots=True)
class ClientConnected:
    """A client's connection began."""

    name: ClassVar = Name.CLIENT_CONNECTED
    explained: ClassVar = "A client's connection is there for a second or two, in which it has said who it is"

    connection: int = _means("The connection's number: its own together with `proxy` and `since`")
    since: str = _means("When it began, as `at`")
    address: str | None = _means("The client's address")
    port: int | None = _means("The client's port")
    node: int | None = _means("The node that it is for; null at the bootstrap port")
    broker: str = _means("The broker's host:port that it is relayed to")
    client_id: str | None = _means("Kafka's client.id")
    software_name: str | None = _means("The client's software, as it says (KIP-511)")
    software_version: str | None = _means("And its version")
    principal: str | None = _means("The principal that the broker authenticated, as User:alice; null when unknown")
    metadata_version: int | None = _means("The highest version of Metadata that the client used so far")
    rebootstrap: str = _means("What brings it back when its cluster is gone: 129, kip-899, no, unknown")
    kip_1242: bool | None = _means("It names the cluster and the node that it means (KIP-1242); null when unknown")


@dataclass(slots=True)
class ClientPresent(ClientConnected):
    """A client's connection is still there."""

    name: ClassVar = Name.CLIENT_PRESENT
    explained: ClassVar = "It is still there; for every connection at each `events.interval`"

    requests: int = _means("Requests that came from it so far")
    responses: int = _means("Responses that went to it")
    bytes_in: int = _means("Bytes that came from it")
    bytes_out: int = _means("Bytes that went to it")


@dataclass(slots=True)
class ClientDisconnected(ClientPresent):
    """A client's connection has ended."""

    name: ClassVar = Name.CLIENT_DISCONNECTED
    explained: ClassVar = "It has ended; one that was shorter has its `client_connected` just before"

    reason: str = _means("Why it ended, in the words of [metrics](metrics.md#reasons)")
    detail: str | None = _means("What is known beyond that, for people")
    seconds: float = _means("How long it was there")


@dataclass(slots=True)
class TopologyChanged:
    """A poll found other nodes, or another cluster."""

    name: ClassVar = Name.TOPOLOGY_CHANGED
    explained: ClassVar = "Other nodes, or another cluster, than at the last look at the upstream cluster"
    log: ClassVar = "topology changed"

    cluster_id: str | None = _means(_CLUSTER_ID)
    added: tuple[int, ...] = _means("Ids of nodes that are new")
    gone: tuple[int, ...] = _means("Ids of nodes that are there no more")
    moved: tuple[int, ...] = _means("Ids of nodes that are elsewhere")

    def log_fields(self) -> dict[str, Any]:
        """Return the fields of the log line; those without a value are left out."""
        kinds = {"added": self.added, "gone": self.gone, "moved": self.moved}
        shown: dict[str, Any] = {kind: " ".join(map(str, ids)) for kind, ids in kinds.items() if ids}
        return shown if self.cluster_id is None else shown | {"cluster_id": self.cluster_id}


@dataclass(slots=True)
class ClientsRebootstrap:
    """The epoch rose."""

    name: ClassVar = Name.CLIENTS_REBOOTSTRAP
    explained: ClassVar = "The epoch rose: all connections from before are notified or closed"
    log: ClassVar = "clients rebootstrap"

    cause: str = _means("As the label `cause` of [metrics](metrics.md#labels)")
    epoch: int = _means("The number of the topology from now on")
    connections: int = _means("How many are notified or closed")
    upstream: str = _means(_UPSTREAM)
    previous_upstream: str | None = _means("The one before, where it changed")
    cluster_id: str | None = _means(_CLUSTER_ID)
    previous_cluster_id: str | None = _means("The id before")

    def log_fields(self) -> dict[str, Any]:
        """Return the fields of the log line; `previous` is the former `upstream`, or the former `cluster_id`."""
        shown: dict[str, Any] = {"cause": self.cause, "epoch": self.epoch, "connections": self.connections}
        if self.previous_upstream is not None:
            return shown | {"upstream": self.upstream, "previous": self.previous_upstream}
        if self.cluster_id is not None or self.previous_cluster_id is not None:
            return shown | {"cluster_id": self.cluster_id, "previous": self.previous_cluster_id}
        return shown


@dataclass(slots=True)
class ClientsSentToSiblings:
    """The process is about to end, and sends its clients to its siblings."""

    name: ClassVar = Name.CLIENTS_SENT_TO_SIBLINGS
    explained: ClassVar = "This kproxy ends, and sends its clients away first (`drain.rebootstrap`)"
    log: ClassVar = "clients are sent to siblings"

    clients: int = _means("How many are sent away")
    seconds: float = _means("over which time clients are sent away")

    def log_fields(self) -> dict[str, Any]:
        """Return the fields of the log line."""
        return {"clients": self.clients, "seconds": self.seconds}


@dataclass(slots=True)
class UpstreamPassedOver:
    """An upstream cluster could not take over."""

    name: ClassVar = Name.UPSTREAM_PASSED_OVER
    explained: ClassVar = "The active upstream cluster is away, and another one could not take over"
    log: ClassVar = "an upstream cluster is passed over"

    upstream: str = _means(_UPSTREAM)
    candidate: str = _means("The one that could not take over; `detail` says why")
    detail: str = _means("What is known beyond that, for people")

    def log_fields(self) -> dict[str, Any]:
        """Return the fields of the log line."""
        return {"to": self.candidate, "why": self.detail}


@dataclass(slots=True)
class NoUpstreamAnswers:
    """There is no upstream cluster to fail over to."""

    name: ClassVar = Name.NO_UPSTREAM_ANSWERS
    explained: ClassVar = "The active upstream cluster is away, and there is none to fail over to"
    log: ClassVar = "no upstream cluster answers"

    upstream: str = _means(_UPSTREAM)

    def log_fields(self) -> dict[str, Any]:
        """Return the fields of the log line."""
        return {"active": self.upstream}


@dataclass(slots=True)
class StandbyReplaced:
    """Another Kafka cluster answers at a standby's addresses."""

    name: ClassVar = Name.STANDBY_REPLACED
    explained: ClassVar = "Another Kafka cluster, by its id, answers for an upstream cluster that is not active"
    log: ClassVar = "a standby is another cluster than before"

    upstream: str = _means(_UPSTREAM)
    candidate: str = _means("The standby")
    cluster_id: str | None = _means(_CLUSTER_ID)
    previous_cluster_id: str | None = _means("The id before")

    def log_fields(self) -> dict[str, Any]:
        """Return the fields of the log line."""
        return {"standby": self.candidate, "cluster_id": self.cluster_id, "previous": self.previous_cluster_id}


@dataclass(slots=True)
class GroupTransition:
    """A hosted group went from one state to another."""

    name: ClassVar = Name.GROUP_TRANSITION
    explained: ClassVar = "A hosted group went from one state to another"

    group: str = _means("The group's id")
    generation: int = _means("The group's generation from now on")
    previous_state: str = _means("The state before, as Kafka names it: Empty, PreparingRebalance, …")
    state: str = _means("The state from now on")
    cause: str = _means("Why it did so, as member_joined, member_left, session_timeout, metadata_changed")
    client_id: str | None = _means("Of the member that caused it")
    members: int = _means("How many members the group has")
    waited_for: tuple[str, ...] = _means("Client ids of the members that the others waited for, the last one last")
    seconds: float = _means("how long the group was in the state before")


@dataclass(slots=True)
class ErrorAnswered:
    """A client got an error that is not retriable (KIP-1050)."""

    name: ClassVar = Name.ERROR_ANSWERED
    explained: ClassVar = (
        "A client got an error from a broker that its library does not retry (KIP-1050): 10 a second are written"
    )

    connection: int = _means("The connection's number: its own together with `proxy` and `since`")
    since: str = _means("When it began, as `at`")
    address: str | None = _means("The client's address")
    client_id: str | None = _means("Kafka's client.id")
    software_name: str | None = _means("The client's software, as it says (KIP-511)")
    software_version: str | None = _means("And its version")
    principal: str | None = _means("The principal that the broker authenticated, as User:alice; null when unknown")
    api: str = _means("The API that was asked, as Produce")
    api_version: int = _means("And its version")
    error_code: int = _means("Kafka's code of the error")
    error: str = _means("Its name, as TOPIC_AUTHORIZATION_FAILED")
    error_class: str = _means("Its class (KIP-1050): refresh-retriable, abortable, application-recoverable, …")
    topic: str | None = _means("The topic that it is about, where that is known")
    group: str | None = _means("The group's id")
    left_out: int = _means("How many like this one were left out since the last one that was written")


@dataclass(slots=True)
class OperatorCommand:
    """Somebody gave a command at the admin port, or was refused it."""

    name: ClassVar = Name.OPERATOR_COMMAND
    explained: ClassVar = (
        "Somebody gave a command at the admin port, or was refused it: 10 refusals a second are written"
    )

    command: str = _means("The method and path of the request, as POST /api/v1/clusters/orders/failover")
    address: str | None = _means("The client's address")
    status: int = _means("The HTTP status that it was answered")
    refused: str | None = _means("Why the client may not give it; null where it may")
    certificate: str | None = _means("Names of the client's verified certificate; null where it has shown none")
    left_out: int = _means("How many like this one were left out since the last one that was written")


@dataclass(slots=True)
class AuthenticationResult:
    """A client has authenticated to kproxy, or was refused."""

    name: ClassVar = Name.AUTHENTICATION
    explained: ClassVar = (
        "A client has authenticated to kproxy (`authentication`), or was refused: 10 refusals a second are written"
    )

    address: str | None = _means("The client's address")
    client_id: str | None = _means("Kafka's client.id")
    principal: str | None = _means("Who it is, as User:alice; null where it is refused")
    mechanism: str | None = _means("How: PLAIN, SCRAM-SHA-512, OAUTHBEARER, mTLS; null before it has chosen one")
    refused: str | None = _means("Why it is refused; null where it is not")
    left_out: int = _means("How many like this one were left out since the last one that was written")


@dataclass(slots=True)
class AdmissionRefused:
    """A client was not let in: its connection ended before it was relayed."""

    name: ClassVar = Name.ADMISSION_REFUSED
    explained: ClassVar = (
        "A client was not let in, for a reason that it or kproxy has: 10 a second of each reason are written"
    )

    address: str | None = _means("The client's address")
    node: int | None = _means("The node that it is for; null at the bootstrap port")
    client_id: str | None = _means("Kafka's client.id")
    reason: str = _means("Why it ended, in the words of [metrics](metrics.md#reasons)")
    detail: str | None = _means("What is known beyond that, for people")
    left_out: int = _means("How many like this one were left out since the last one that was written")


@dataclass(slots=True)
class FaultInjected:
    """kproxy has injected a fault, for a test."""

    name: ClassVar = Name.FAULT_INJECTED
    explained: ClassVar = "kproxy has injected a fault by a rule of `faults`: it is a test, and no broker's fault"

    connection: int = _means("The connection's number: its own together with `proxy` and `since`")
    since: str | None = _means("When it began, as `at`")
    address: str | None = _means("The client's address")
    client_id: str | None = _means("Kafka's client.id")
    software_name: str | None = _means("The client's software, as it says (KIP-511)")
    software_version: str | None = _means("And its version")
    principal: str | None = _means("The principal that the broker authenticated, as User:alice; null when unknown")
    api: str = _means("The API that was asked, as Produce")
    api_version: int = _means("And its version")
    fault: str = _means("The kind of an injected fault: error, delay, close or half")
    error: str | None = _means("Its name, as TOPIC_AUTHORIZATION_FAILED")
    delay: float | None = _means("For how many seconds kproxy held the request")
    rule: int = _means("The number of the rule, as `kproxy faults list` shows it")


ClientEvent = ClientConnected
"""`ClientConnected` or a subclass."""
TopologyEvent = (
    TopologyChanged
    | ClientsRebootstrap
    | ClientsSentToSiblings
    | UpstreamPassedOver
    | NoUpstreamAnswers
    | StandbyReplaced
)
"""An event of a virtual cluster; it is also logged as a warning."""
Report = GroupTransition | OperatorCommand | AuthenticationResult | AdmissionRefused | FaultInjected | ErrorAnswered
"""An event of a virtual cluster that is not kept."""
Event = ClientEvent | TopologyEvent | Report
EVENTS: Final = (
    ClientConnected,
    ClientPresent,
    ClientDisconnected,
    TopologyChanged,
    ClientsRebootstrap,
    ClientsSentToSiblings,
    UpstreamPassedOver,
    NoUpstreamAnswers,
    StandbyReplaced,
    GroupTransition,
    ErrorAnswered,
    OperatorCommand,
    AuthenticationResult,
    AdmissionRefused,
    FaultInjected,
)
"""All event classes, in the order of `Name`."""


_NAMES: Final = {event.name: tuple(one.name for one in fields(event)) for event in EVENTS}


class EncodedEvent(NamedTuple):
    """An event, encoded for delivery."""

    name: Name
    key: bytes
    """Events with the same key keep their order."""
    at_ms: int
    """Unix time in milliseconds."""
    payload: bytes
    """The event as JSON on one line."""


_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def encode(event: Event, at: float, proxy: str, cluster: str, number: int) -> EncodedEvent:
    """Encode an event of Unix time `at`. Its key is its connection, if it has one, else the virtual cluster.

    `number` tells it from others of the process that are of the same millisecond.
    """
    head = {"event": event.name, "at": iso(at), "schema": SCHEMA, "proxy": proxy, "cluster": cluster, "number": number}
    key = (
        f"{proxy}/{event.connection}" if isinstance(event, ClientConnected | ErrorAnswered | FaultInjected) else cluster
    )
    text = _encode(head | contents(event))
    # A client's text may hold half of a surrogate pair, which has no UTF-8 form.
    return EncodedEvent(event.name, key.encode("utf-8", "replace"), round(at * 1000), text.encode("utf-8", "replace"))


def contents(event: Event) -> dict[str, Any]:
    """Return the event's own fields by name."""
    return {name: getattr(event, name) for name in _NAMES[event.name]}


def iso(seconds: float) -> str:
    """Return a Unix time in ISO 8601, with milliseconds and Z."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def bounded(text: str | None) -> str | None:
    """Return a client's text, cut to `MAX_TEXT` characters: thousands of them are kept."""
    return None if text is None else text[:MAX_TEXT]
