# This module is pure.
"""Every event of the stream, once: its name, its fields and their types, and how it is written. docs/events.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

SCHEMA: Final = 1
"""Rises when a field goes, or means something else; not when one is added."""
MAX_TEXT: Final = 256
"""Characters that are kept of what clients say of themselves: the wire allows 32,767."""


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


EXPLAINED: Final[Mapping[Name, str]] = MappingProxyType(
    {
        Name.CLIENT_CONNECTED: "A client's connection is there for a second or two, in which it has said who it is",
        Name.CLIENT_PRESENT: "It is still there; for every connection at each `events.interval`",
        Name.CLIENT_DISCONNECTED: "It has ended; one that was shorter has its `client_connected` just before",
        Name.TOPOLOGY_CHANGED: "Other nodes, or another cluster, than at the last look at the backend",
        Name.CLIENTS_REBOOTSTRAP: "The epoch rose: all connections from before are told or closed",
        Name.CLIENTS_SENT_TO_SIBLINGS: "This kproxy ends, and sends its clients away first (`drain.rebootstrap`)",
        Name.UPSTREAM_PASSED_OVER: "The active upstream cluster is away, and another one could not take over",
        Name.NO_UPSTREAM_ANSWERS: "The active upstream cluster is away, and there is none to fail over to",
    }
)
CLIENT: Final = (Name.CLIENT_CONNECTED, Name.CLIENT_PRESENT, Name.CLIENT_DISCONNECTED)


class Kind(StrEnum):
    """The types of fields, as Spark calls them."""

    STRING = "string"
    LONG = "long"
    DOUBLE = "double"
    LONGS = "array<long>"


@dataclass(frozen=True, slots=True)
class Field:
    """A field and the events that have it, always all of them: null where there is nothing to say."""

    name: str
    kind: Kind
    events: tuple[Name, ...]
    help: str


_ALL: Final = tuple(Name)
_SEEN: Final = CLIENT[1:]
_END: Final = (Name.CLIENT_DISCONNECTED,)
_CHANGED: Final = (Name.TOPOLOGY_CHANGED,)
_EPOCH: Final = (Name.CLIENTS_REBOOTSTRAP,)
_SIBLINGS: Final = (Name.CLIENTS_SENT_TO_SIBLINGS,)
_PASSED: Final = (Name.UPSTREAM_PASSED_OVER,)
_AWAY: Final = (*_PASSED, Name.NO_UPSTREAM_ANSWERS)
_STRING, _LONG, _DOUBLE, _LONGS = Kind.STRING, Kind.LONG, Kind.DOUBLE, Kind.LONGS

FIELDS: Final = (
    Field("event", _STRING, _ALL, "What happened"),
    Field("at", _STRING, _ALL, "When: ISO 8601 with milliseconds, UTC, as 2026-01-31T12:00:00.000Z"),
    Field("schema", _LONG, _ALL, "1; it rises when a field goes or means something else, not when one is added"),
    Field("proxy", _STRING, _ALL, "Which kproxy: `events.instance`, or the name of its host or pod"),
    Field("cluster", _STRING, _ALL, "The virtual cluster"),
    Field("connection", _LONG, CLIENT, "The connection's number: its own together with `proxy` and `since`"),
    Field("since", _STRING, CLIENT, "When it began, as `at`"),
    Field("address", _STRING, CLIENT, "The client's address"),
    Field("port", _LONG, CLIENT, "The client's port"),
    Field("node", _LONG, CLIENT, "The node that it is for; null at the bootstrap port"),
    Field("broker", _STRING, CLIENT, "The broker's host:port that it is relayed to"),
    Field("client_id", _STRING, CLIENT, "Kafka's client.id"),
    Field("software_name", _STRING, CLIENT, "The client's software, as it says (KIP-511)"),
    Field("software_version", _STRING, CLIENT, "And its version"),
    Field("principal", _STRING, CLIENT, "Whom the broker authenticated, as User:alice; null where that is not known"),
    Field("metadata_version", _LONG, CLIENT, "The highest version of Metadata that it used so far"),
    Field("rebootstrap", _STRING, CLIENT, "What brings it back when its cluster is gone: 129, kip-899, no, unknown"),
    Field("requests", _LONG, _SEEN, "Requests that came from it so far"),
    Field("responses", _LONG, _SEEN, "Responses that went to it"),
    Field("bytes_in", _LONG, _SEEN, "Bytes that came from it"),
    Field("bytes_out", _LONG, _SEEN, "Bytes that went to it"),
    Field("reason", _STRING, _END, "Why it ended, in the words of [metrics](metrics.md#reasons)"),
    Field("detail", _STRING, (*_END, *_PASSED), "What is known beyond that, for people"),
    Field("seconds", _DOUBLE, (*_END, *_SIBLINGS), "How long it was there; over which time clients are sent away"),
    Field("cause", _STRING, _EPOCH, "As the label `cause` of [metrics](metrics.md#labels)"),
    Field("epoch", _LONG, _EPOCH, "The number of the topology from now on"),
    Field("connections", _LONG, _EPOCH, "How many are told or closed"),
    Field("clients", _LONG, _SIBLINGS, "How many are sent away"),
    Field("upstream", _STRING, (*_EPOCH, *_AWAY), "The active upstream cluster, by its name"),
    Field("candidate", _STRING, _PASSED, "The one that could not take over; `detail` says why"),
    Field("previous_upstream", _STRING, _EPOCH, "The one before, where it changed"),
    Field("cluster_id", _STRING, (*_CHANGED, *_EPOCH), "Kafka's id of the cluster, where it changed"),
    Field("previous_cluster_id", _STRING, _EPOCH, "The id before"),
    Field("added", _LONGS, _CHANGED, "Ids of nodes that are new"),
    Field("gone", _LONGS, _CHANGED, "Ids of nodes that are there no more"),
    Field("moved", _LONGS, _CHANGED, "Ids of nodes that are elsewhere"),
)


class Event(NamedTuple):
    """`payload` is the event as JSON, in one line; events of one `key` keep their order; `at_ms` in Unix time."""

    name: Name
    key: bytes
    at_ms: int
    payload: bytes


_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def encode(name: Name, at: float, proxy: str, cluster: str, fields: Mapping[str, Any]) -> Event:
    """An event at a Unix time. Its key is the connection that it is about, otherwise the virtual cluster."""
    about = {"event": name, "at": iso(at), "schema": SCHEMA, "proxy": proxy, "cluster": cluster, **fields}
    key = f"{proxy}/{fields['connection']}" if name in CLIENT else cluster
    # Half of a surrogate pair, which a client's text may hold, is no UTF-8.
    return Event(name, key.encode("utf-8", "replace"), round(at * 1000), _encode(about).encode("utf-8", "replace"))


def iso(seconds: float) -> str:
    """A Unix time in ISO 8601, with milliseconds and Z."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def bounded(text: str | None) -> str | None:
    """What a client says, fit to be kept by the thousand."""
    return None if text is None else text[:MAX_TEXT]
