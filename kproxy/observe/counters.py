# This module is pure and compiled.
"""The counters that the hot path increments: plain integers in slotted objects, each set of labels bounded.

Everything here is written by the Trio thread alone. The collector reads it from another thread; a dict that may grow
is therefore copied (`dict.copy` is one step for other threads) before it is walked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar

MAX_PAIRS: Final = 100  # (name, version) pairs
MAX_LENGTH: Final = 64  # characters of a name or a version that may become a label

_ALLOWED: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")  # KIP-511


def software_label(text: str | None) -> str:
    """A client's software name or version as a label: itself where KIP-511 allows it, else "unknown"."""
    if text is None or len(text) > MAX_LENGTH or not _ALLOWED.fullmatch(text):
        return "unknown"
    return text


class SoftwareCounts:
    """Connections by the client's software: `active` now, `total` ever; at most `limit` pairs, the rest are "other"."""

    __slots__ = ("active", "limit", "total")

    def __init__(self, limit: int = MAX_PAIRS) -> None:
        self.limit = limit
        self.active: dict[tuple[str, str], int] = {}
        self.total: dict[tuple[str, str], int] = {}

    def opened(self, name: str | None, version: str | None) -> tuple[str, str]:
        """Count a connection; returns the pair that `closed` takes."""
        pair = software_label(name), software_label(version)
        if pair not in self.total and len(self.total) >= self.limit:
            pair = "other", "other"
        self.active[pair] = self.active.get(pair, 0) + 1
        self.total[pair] = self.total.get(pair, 0) + 1
        return pair

    def closed(self, pair: tuple[str, str]) -> None:
        self.active[pair] -= 1


class Tally(Protocol):
    """Requests by Kafka's error code; bytes of pushes as they came, and decompressed; seconds spent decoding them."""

    gets: Counter[int]
    pushes: Counter[int]
    pushed_bytes: int
    decompressed_bytes: int
    decode_seconds: float


class Instances(Protocol):
    """The client instances that are known; `evicted` counts those that went because there was no room."""

    evicted: int

    def __len__(self) -> int: ...


class Queue(Protocol):
    """What became of the pushes that a receiver was offered. `dropped` is by reason; sizes in bytes of payload."""

    offered: int
    delivered: int
    delivered_bytes: int
    dropped: dict[str, int]
    retries: int
    queued: int
    queued_bytes: int


class Series(Protocol):
    """Of a receiver that adds up: how many series it holds, and points that it did not take."""

    series: int
    full: int
    conflicting: int
    invalid: int


@dataclass(slots=True)
class TelemetryCounters:
    """Telemetry of one virtual cluster; `queues` and `series` are by the receiver's name."""

    tally: Tally
    instances: Instances
    queues: Mapping[str, Queue] = field(default_factory=dict)
    series: Mapping[str, Series] = field(default_factory=dict)


BOUNDS: Final[tuple[float, ...]] = (
    0.00005,
    0.000125,
    0.0003,
    0.0008,
    0.002,
    0.005,
    0.0125,
    0.03,
    0.08,
    0.2,
    0.5,
    1.25,
    3.0,
    8.0,
    20.0,
    60.0,
)
"""Upper bounds of the latency buckets, in seconds, inclusive; a factor of about 2.5 apart.

Of any length as far as types go: mypyc would keep a tuple of sixteen floats unboxed and box all of them at each use.
"""

BOOTSTRAP: Final = -1
"""The node id of the bootstrap servers, before a client knows any node."""

OTHER: Final = -32768
"""The api key, version or error code for all that found no room: the smallest int16, which Kafka never uses."""

MAX_APIS: Final = 1024  # (api key, version) pairs; Kafka 4.4 has about 450
MAX_CODES: Final = 256  # error codes of one API and version; Kafka 4.4 has 137
MAX_REFUSED: Final = 512  # (api key, reason) pairs; the keys are whatever a client sends
MAX_TOLD: Final = 300  # (means, software name, software version) triples

_Key = TypeVar("_Key")


def _add(counts: dict[_Key, int], key: _Key, amount: int = 1) -> None:
    counts[key] = counts.get(key, 0) + amount


class Histogram:
    """Durations in seconds by bucket; `counts[i]` are those up to `BOUNDS[i]`, the last those above all bounds."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.total = 0.0

    def observe(self, seconds: float) -> None:
        bucket = 0
        for bound in BOUNDS:  # most are among the first
            if seconds <= bound:
                break
            bucket += 1
        self.counts[bucket] += 1
        self.total += seconds


@dataclass(slots=True)
class ApiCounters:
    """What passed of one API in one version; bytes include the frame's size field; errors are by Kafka's error code."""

    api_key: int
    api_version: int
    requests: int = 0
    responses: int = 0
    request_bytes: int = 0
    response_bytes: int = 0
    errors: dict[int, int] = field(default_factory=dict)
    proxy: Histogram = field(default_factory=Histogram)
    upstream: Histogram = field(default_factory=Histogram)

    def count_error(self, code: int, amount: int = 1) -> None:
        """Count an error code that a response carried; codes beyond `MAX_CODES` distinct ones count as `OTHER`."""
        if code not in self.errors and len(self.errors) >= MAX_CODES:
            code = OTHER
        _add(self.errors, code, amount)


@dataclass(slots=True)
class NodeCounters:
    """One broker as the proxy reaches it. `reachable` is None until it was tried; `address` is "host:port"."""

    node_id: int
    address: str = ""
    reachable: bool | None = None
    connects: int = 0
    connect_failures: dict[str, int] = field(default_factory=dict)
    last_error: str | None = None

    def connected(self) -> None:
        self.reachable = True
        self.last_error = None
        self.connects += 1

    def failed(self, reason: str, error: str) -> None:
        """Count a connection that was not made; `error` is one line for people."""
        self.reachable = False
        self.last_error = error
        _add(self.connect_failures, reason)


@dataclass(slots=True)
class ClusterCounters:
    """Everything that is counted for one virtual cluster.

    `pauses`: "downstream" when the client does not take responses, "upstream" when the broker does not take requests.
    `spliced_bytes` never came into the process; `held_bytes` is what it holds at this moment, for a peer that lags or
    for a frame that must be whole. `producer_ids_issued` have their Kafka cluster in them; `batches_renumbered` are
    written under another producer id. `epochs` are by their cause; `changes` by what was seen of the backend: nodes
    "added", "gone" or "moved", another "cluster" (both begin at 0, so that Prometheus sees the first time). `told` is
    by means, software name and software version; `upstreams` says of each by name whether it is the active one.
    `telemetry` is None where the proxy does not serve it.
    """

    name: str
    apis: dict[tuple[int, int], ApiCounters] = field(default_factory=dict)
    connections_opened: int = 0
    connections_active: int = 0
    closed: dict[str, int] = field(default_factory=dict)
    refused: dict[tuple[int, str], int] = field(default_factory=dict)
    protocol_errors: dict[str, int] = field(default_factory=dict)
    pauses: dict[str, int] = field(default_factory=lambda: {"downstream": 0, "upstream": 0})
    software: SoftwareCounts = field(default_factory=SoftwareCounts)
    nodes: dict[int, NodeCounters] = field(default_factory=dict)
    spliced_bytes: int = 0
    held_bytes: int = 0
    producer_ids_issued: int = 0
    batches_renumbered: int = 0
    epoch: int = 0
    epochs: dict[str, int] = field(default_factory=dict)
    changes: dict[str, int] = field(default_factory=lambda: {"added": 0, "gone": 0, "moved": 0, "cluster": 0})
    told: dict[tuple[str, str, str], int] = field(default_factory=dict)
    upstreams: dict[str, bool] = field(default_factory=dict)
    telemetry: TelemetryCounters | None = None

    def api(self, key: int, version: int) -> ApiCounters:
        """The counters of an API in a version, made at its first use; beyond `MAX_APIS` pairs those of `OTHER`."""
        found = self.apis.get((key, version))
        if found is None:
            if len(self.apis) >= MAX_APIS:
                key = version = OTHER
            found = self.apis.setdefault((key, version), ApiCounters(key, version))
        return found

    def node(self, node_id: int, address: str = "") -> NodeCounters:
        """The counters of a node, made at its first use; a given address replaces the one known."""
        found = self.nodes.setdefault(node_id, NodeCounters(node_id))
        if address:
            found.address = address
        return found

    def connection_opened(self) -> None:
        self.connections_opened += 1
        self.connections_active += 1

    def connection_closed(self, reason: str) -> None:
        self.connections_active -= 1
        _add(self.closed, reason)

    def refuse(self, api_key: int, reason: str) -> None:
        """Count a request that was not let through; beyond `MAX_REFUSED` pairs under the api key `OTHER`."""
        if (api_key, reason) not in self.refused and len(self.refused) >= MAX_REFUSED:
            api_key = OTHER
        _add(self.refused, (api_key, reason))

    def protocol_error(self, reason: str) -> None:
        _add(self.protocol_errors, reason)

    def begin_causes(self, causes: Iterable[str]) -> None:
        """Begin the epochs of each cause at 0, so that Prometheus sees the first one."""
        self.epochs.update(dict.fromkeys(causes, 0))

    def raise_epoch(self, cause: str) -> None:
        self.epoch += 1
        _add(self.epochs, cause)

    def count_told(self, means: str, software: tuple[str, str] | None) -> None:
        """Count a client that was told, by its software's name and version; beyond `MAX_TOLD` triples as "other"."""
        name, version = software or (None, None)
        told = means, software_label(name), software_label(version)
        if told not in self.told and len(self.told) >= MAX_TOLD:
            told = means, "other", "other"
        _add(self.told, told)

    def activate(self, upstream: str) -> None:
        """One of `upstreams` is the active one from now on, and no other."""
        for name in self.upstreams:
            self.upstreams[name] = name == upstream


@dataclass(slots=True)
class Counters:
    """The whole process: one `ClusterCounters` a virtual cluster; `started_at` in seconds since the Unix epoch.

    `events` are the queues of the event stream's destinations, by name.
    """

    started_at: float
    clusters: dict[str, ClusterCounters] = field(default_factory=dict)
    events: Mapping[str, Queue] = field(default_factory=dict)

    def cluster(self, name: str) -> ClusterCounters:
        """The counters of a virtual cluster, made at its first use."""
        return self.clusters.setdefault(name, ClusterCounters(name))
