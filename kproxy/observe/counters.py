# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""The counters that the hot path increments: plain integers in slotted objects, each set of labels bounded.

Only the Trio thread writes them. Each scrape of /metrics reads them in another thread, so it copies a dict that may
grow before it iterates (`dict.copy` is one step for other threads).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar

from kproxy.observe.loop_lag import LoopLag
from kproxy.observe.troubles import Troubles
from kproxy.observe.turned_away import TurnedAway

MAX_PAIRS: Final = 100  # (name, version) pairs
MAX_LENGTH: Final = 64  # characters of a name or a version that may become a label

_ALLOWED: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")  # KIP-511


def software_label(text: str | None) -> str:
    """Return a client's software name or version when KIP-511 allows the text, else "unknown"."""
    if text is None or len(text) > MAX_LENGTH or not _ALLOWED.fullmatch(text):
        return "unknown"
    return text


class SoftwareCounts:
    """Connections by the client's software: `active` now, `total` ever; pairs beyond `limit` count as "other"."""

    __slots__ = ("active", "limit", "total")

    def __init__(self, limit: int = MAX_PAIRS) -> None:
        self.limit = limit
        self.active: dict[tuple[str, str], int] = {}
        self.total: dict[tuple[str, str], int] = {}

    def opened(self, name: str | None, version: str | None) -> tuple[str, str]:
        """Count a connection; return the pair to pass to `closed`."""
        pair = software_label(name), software_label(version)
        if pair not in self.total and len(self.total) >= self.limit:
            pair = "other", "other"
        self.active[pair] = self.active.get(pair, 0) + 1
        self.total[pair] = self.total.get(pair, 0) + 1
        return pair

    def closed(self, pair: tuple[str, str]) -> None:
        self.active[pair] -= 1


class Tally(Protocol):
    """Requests by Kafka's error code; bytes of pushes as received, and decompressed; seconds spent decoding them.

    `refused` counts the requests over a quota, by its name.
    """

    gets: Counter[int]
    pushes: Counter[int]
    refused: dict[str, int]
    pushed_bytes: int
    decompressed_bytes: int
    decode_seconds: float


class Instances(Protocol):
    """The known client instances; `evicted` counts those that were forgotten for lack of room."""

    evicted: int

    def __len__(self) -> int: ...


class Queue(Protocol):
    """Counts of the pushes that a receiver was offered. `dropped` is by reason; sizes are bytes of payload."""

    offered: int
    delivered: int
    delivered_bytes: int
    dropped: dict[str, int]
    retries: int
    queued: int
    queued_bytes: int


class Groups(Protocol):
    """Hosted groups: how often they went to a state, by state and cause, and how long things took, in seconds."""

    moves: Counter[tuple[str, str]]
    rebalances: Histogram
    assignments: Histogram
    store: Histogram
    late_heartbeats: int

    def states(self) -> Counter[str]: ...

    def members(self) -> int: ...


class Transactions(Protocol):
    """Transactional ids: the open transactions, those that have ended by result, the ids that were left out."""

    results: dict[str, int]
    left_out: int

    @property
    def open(self) -> int: ...


class Accepting(Protocol):
    """How clients are accepted: the most connections at a time, and how often the rate of new ones made it pause.

    Of their TLS handshakes: how many wait for their turn, how many are under way, and the seconds that they took.
    """

    @property
    def max_connections(self) -> int: ...

    @property
    def accept_pauses(self) -> int: ...

    @property
    def handshakes_waiting(self) -> int: ...

    @property
    def handshakes_active(self) -> int: ...

    @property
    def handshake_seconds(self) -> Histogram: ...


class Series(Protocol):
    """A receiver of type prometheus: the number of series that it holds, and the points that it rejected."""

    series: int
    full: int
    address_share: int
    client_share: int
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
"""Inclusive upper bounds of the latency buckets in seconds, a factor of about 2.5 apart.

The type allows any length: mypyc would keep a tuple of sixteen floats unboxed and box all of them at each use.
"""

BOOTSTRAP: Final = -1
"""The node id of the bootstrap servers, before a client knows any node."""

OTHER: Final = -32768
"""The api key, version or error code of everything beyond a bound: the smallest int16, which Kafka never uses."""

MAX_APIS: Final = 1024  # (api key, version) pairs; Kafka 4.4 has about 450
MAX_CODES: Final = 256  # error codes of one API and version; Kafka 4.4 has 137
MAX_REFUSED: Final = 512  # (api key, reason) pairs; clients may send any key
MAX_NOTIFIED: Final = 300  # (means, software name, software version) triples

_Key = TypeVar("_Key")


def _add(counts: dict[_Key, int], key: _Key, amount: int = 1) -> None:
    counts[key] = counts.get(key, 0) + amount


class Histogram:
    """Durations in seconds by bucket; `counts[i]` is for durations up to `BOUNDS[i]`, the last for longer ones."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.total = 0.0

    def observe(self, seconds: float) -> None:
        bucket = 0
        for bound in BOUNDS:  # most durations fall into the first buckets
            if seconds <= bound:
                break
            bucket += 1
        self.counts[bucket] += 1
        self.total += seconds


@dataclass(slots=True)
class ApiCounters:
    """Counters of one API in one version; bytes include the frame's size field; errors are by Kafka's error code."""

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
        """Count an error code of a response; beyond `MAX_CODES` distinct codes it counts as `OTHER`."""
        if code not in self.errors and len(self.errors) >= MAX_CODES:
            code = OTHER
        _add(self.errors, code, amount)


@dataclass(slots=True)
class NodeCounters:
    """Connections to one broker. `reachable` is None before the first attempt; `address` is "host:port"."""

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
        """Count a failed attempt to connect; `error` is one line for people."""
        self.reachable = False
        self.last_error = error
        _add(self.connect_failures, reason)

    def forget(self) -> None:
        """Forget whether it can be reached: it is in the topology no more, or elsewhere."""
        self.reachable = None
        self.last_error = None

    def not_tried(self, reason: str) -> None:
        """Count an attempt that kproxy itself was in no state to make: it says nothing about the broker."""
        _add(self.connect_failures, reason)


@dataclass(slots=True)
class UpstreamCounters:
    """One upstream cluster as it was last looked at; None for what is not known.

    `answered_at` is in seconds since the Unix epoch. `silent` nodes did not answer, `lacking` nodes have no port.
    `fit`: an automatic failover would go there; None for the active one.
    """

    reachable: bool | None = None
    answered_at: float | None = None
    nodes: int | None = None
    silent: int | None = None
    lacking: int | None = None
    fit: bool | None = None


@dataclass(slots=True)
class OrderCounters:
    """What a replica knows of the orders to fail over: the newest one's number, and which places can be read."""

    number: int = 0
    pending: bool = False
    """The newest one is not in force here."""
    places: Mapping[str, bool] = field(default_factory=dict)


@dataclass(slots=True)
class ClusterCounters:
    """All counters of one virtual cluster.

    `pauses`: "downstream" when the client does not take responses, "upstream" when the broker does not take requests.
    `spliced_bytes` never came into the process. `held_bytes` are in memory now, for a peer that lags or for a frame
    that must be complete. `producer_ids_issued` counts ids that contain their Kafka cluster; `batches_renumbered`
    counts batches written under another producer id. `throttles` and `throttle_seconds` are by api. `epochs` is by
    cause. `departures` counts members of groups that were to leave a cluster that was left, by outcome. `changes` is by
    what changed in the backend: nodes "added", "gone" or "moved", another "cluster". `reauthentications` are kproxy's
    own to brokers that end sessions: "accepted", "refused", or "failed" without an answer. All six begin at 0, so that
    Prometheus sees the first increment.
    `authentications` are those of clients to kproxy, by mechanism and whether they were "accepted" or "refused".
    `faults` counts those that were injected, by api and fault: an error's name, "delay", "close" or "half".
    `notified` counts clients asked to rebootstrap, by means, software name and software version. `upstreams` maps each
    upstream to whether it is active, `looks` to how it was last seen. `orders` is None where replicas do not agree,
    `telemetry` when kproxy does not serve it, `groups` when it hosts none, `transactions` until the virtual cluster is
    made. `certificates` are when kproxy's own end (seconds since the Unix epoch), by setting. `turned_away` has the
    brokers that ended clients' connections before they answered anything. `troubles` are the process'.
    """

    name: str
    apis: dict[tuple[int, int], ApiCounters] = field(default_factory=dict)
    connections_opened: int = 0
    connections_active: int = 0
    closed: dict[str, int] = field(default_factory=dict)
    authentications: dict[tuple[str, str], int] = field(default_factory=dict)
    reauthentications: dict[str, int] = field(default_factory=lambda: {"accepted": 0, "refused": 0, "failed": 0})
    refused: dict[tuple[int, str], int] = field(default_factory=dict)
    faults: dict[tuple[str, str], int] = field(default_factory=dict)
    protocol_errors: dict[str, int] = field(default_factory=dict)
    pauses: dict[str, int] = field(default_factory=lambda: {"downstream": 0, "upstream": 0})
    software: SoftwareCounts = field(default_factory=SoftwareCounts)
    nodes: dict[int, NodeCounters] = field(default_factory=dict)
    spliced_bytes: int = 0
    held_bytes: int = 0
    producer_ids_issued: int = 0
    batches_renumbered: int = 0
    throttles: dict[str, int] = field(default_factory=lambda: {"Fetch": 0, "Produce": 0})
    throttle_seconds: dict[str, float] = field(default_factory=lambda: {"Fetch": 0.0, "Produce": 0.0})
    epoch: int = 0
    epochs: dict[str, int] = field(default_factory=dict)
    departures: dict[str, int] = field(default_factory=dict)
    changes: dict[str, int] = field(default_factory=lambda: {"added": 0, "gone": 0, "moved": 0, "cluster": 0})
    notified: dict[tuple[str, str, str], int] = field(default_factory=dict)
    upstreams: dict[str, bool] = field(default_factory=dict)
    looks: Mapping[str, UpstreamCounters] = field(default_factory=dict)
    orders: OrderCounters | None = None
    telemetry: TelemetryCounters | None = None
    groups: Groups | None = None
    transactions: Transactions | None = None
    certificates: Mapping[str, float] = field(default_factory=dict)
    turned_away: TurnedAway = field(default_factory=TurnedAway)
    troubles: Troubles = field(default_factory=Troubles)

    def api(self, key: int, version: int) -> ApiCounters:
        """Return the counters of an API in a version, made at first use; beyond `MAX_APIS` pairs those of `OTHER`."""
        found = self.apis.get((key, version))
        if found is None:
            if len(self.apis) >= MAX_APIS:
                key = version = OTHER
            found = self.apis.setdefault((key, version), ApiCounters(key, version))
        return found

    def node(self, node_id: int, address: str = "") -> NodeCounters:
        """Return the counters of a node, made at first use; a non-empty address replaces the known one."""
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
        """Count a refused request; beyond `MAX_REFUSED` pairs under the api key `OTHER`."""
        if (api_key, reason) not in self.refused and len(self.refused) >= MAX_REFUSED:
            api_key = OTHER
        _add(self.refused, (api_key, reason))

    def protocol_error(self, reason: str) -> None:
        _add(self.protocol_errors, reason)

    def begin_causes(self, causes: Iterable[str]) -> None:
        """Set the epochs of each cause to 0, so that Prometheus sees the first increment."""
        self.epochs.update(dict.fromkeys(causes, 0))

    def begin_departures(self, outcomes: Iterable[str]) -> None:
        """Set the departures of each outcome to 0, for the same reason."""
        self.departures.update(dict.fromkeys(outcomes, 0))

    def begin_fault(self, api: str, fault: str) -> None:
        """Have the count of a fault that may be injected begin at 0, for the same reason."""
        self.faults.setdefault((api, fault), 0)

    def count_fault(self, api: str, fault: str) -> None:
        """Count an injected fault. APIs and Kafka's errors are few, so the labels are bounded."""
        _add(self.faults, (api, fault))

    def raise_epoch(self, cause: str) -> None:
        self.epoch += 1
        _add(self.epochs, cause)

    def count_notified(self, means: str, software: tuple[str, str] | None) -> None:
        """Count a client that was asked to rebootstrap, by its software; beyond `MAX_NOTIFIED` triples as "other"."""
        name, version = software or (None, None)
        labels = means, software_label(name), software_label(version)
        if labels not in self.notified and len(self.notified) >= MAX_NOTIFIED:
            labels = means, "other", "other"
        _add(self.notified, labels)

    def activate(self, upstream: str) -> None:
        """Mark one of `upstreams` as active, and all others as not."""
        for name in self.upstreams:
            self.upstreams[name] = name == upstream


@dataclass(slots=True)
class LogCounters:
    """Counts of the log: `dropped` lines found no room in the queue before stderr, or could not be written."""

    dropped: int = 0


@dataclass(slots=True)
class ReloadCounters:
    """Counts reloads; `at` is when one was applied last, or kproxy started, in seconds since the Unix epoch."""

    at: float
    applied: int = 0
    refused: int = 0
    last_applied: bool = True
    """Whether the last one was applied; True before the first."""

    def apply(self, now: float) -> None:
        """Count one that was applied, at `now` in seconds since the Unix epoch."""
        self.applied, self.at, self.last_applied = self.applied + 1, now, True

    def refuse(self) -> None:
        """Count one that changed nothing, because something was wrong."""
        self.refused, self.last_applied = self.refused + 1, False


@dataclass(slots=True)
class Counters:
    """All counters of the process, by virtual cluster; `started_at` is in seconds since the Unix epoch.

    `events` has the queues of the event stream's destinations, by name. `accepting` is None until there is a relay.
    `troubles` are kproxy's own; every virtual cluster's counters lead to them too. `certificates` as for a virtual
    cluster, of the admin port.
    """

    started_at: float
    clusters: dict[str, ClusterCounters] = field(default_factory=dict)
    events: Mapping[str, Queue] = field(default_factory=dict)
    log: LogCounters = field(default_factory=LogCounters)
    accepting: Accepting | None = None
    troubles: Troubles = field(default_factory=Troubles)
    loop_lag: LoopLag = field(default_factory=LoopLag)
    certificates: Mapping[str, float] = field(default_factory=dict)
    reloads: ReloadCounters = field(init=False)

    def __post_init__(self) -> None:
        self.reloads = ReloadCounters(self.started_at)

    def cluster(self, name: str) -> ClusterCounters:
        """Return the counters of a virtual cluster, made at first use."""
        return self.clusters.setdefault(name, ClusterCounters(name, troubles=self.troubles))
