"""Counters with a series for every metric, and counters with as many series as those of a large cluster."""

from __future__ import annotations

from dataclasses import dataclass, field

from kproxy.delivery.destinations import Counters as Queue
from kproxy.observe.counters import BOOTSTRAP, Counters, Histogram, OrderCounters, TelemetryCounters, UpstreamCounters
from kproxy.observe.group_counters import GroupCounters
from kproxy.observe.reasons import Reason
from kproxy.rebootstrap.actions import Action, Cause, Outcome
from kproxy.telemetry.receivers.interface import ReceiverCounters
from kproxy.telemetry.receivers.registry import Tally as Series
from kproxy.telemetry.service import Tally
from kproxy.wire.apis import APIS


def everything() -> Counters:
    """Return counters with a virtual cluster, "main", on which everything happened at least once."""
    counters = Counters(started_at=1_700_000_000.0)
    cluster = counters.cluster("main")
    produce = cluster.api(0, 12)
    produce.requests, produce.responses = 3, 2
    produce.request_bytes, produce.response_bytes = 3000, 200
    produce.count_error(6)
    produce.proxy.observe(0.0001)
    produce.upstream.observe(0.004)
    cluster.connection_opened()
    cluster.connection_opened()
    cluster.connection_closed(Reason.CLIENT_CLOSED)
    cluster.refuse(0, Reason.UNSUPPORTED_VERSION)
    cluster.authentications["PLAIN", "refused"] = 1
    cluster.reauthentications["accepted"] += 1
    cluster.count_fault("Produce", "NOT_LEADER_OR_FOLLOWER")
    cluster.protocol_error(Reason.TLS_ON_PLAINTEXT)
    cluster.pauses["downstream"] += 1
    cluster.spliced_bytes, cluster.held_bytes = 1 << 20, 4096
    cluster.producer_ids_issued, cluster.batches_renumbered = 12, 34
    cluster.software.opened("apache-kafka-java", "4.3.1")
    cluster.node(BOOTSTRAP, "seed:9092").connected()
    cluster.node(1001, "broker:9092").failed(Reason.CONNECT_FAILED, "connection refused")
    cluster.begin_causes(map(str, Cause))
    cluster.raise_epoch(Cause.FAILOVER)
    cluster.begin_departures(map(str, Outcome))
    cluster.departures[Outcome.LEFT] += 3
    cluster.changes["moved"] += 2
    cluster.count_notified(Action.NOTIFY, ("apache-kafka-java", "4.3.1"))
    cluster.upstreams |= {"east": True, "west": False}
    cluster.looks = {
        "east": UpstreamCounters(True, 1_700_000_100.5, nodes=3, silent=0, lacking=0),
        "west": UpstreamCounters(False, 1_700_000_050.0, nodes=2, silent=2, lacking=1, fit=False),
    }
    cluster.orders = OrderCounters(7, pending=True, places={"east": True, "west": False})
    cluster.certificates = {"tls": 1_800_000_000.0}
    cluster.telemetry = telemetry()
    cluster.groups = groups()
    cluster.transactions = Transactions()
    counters.accepting = Accepts(
        max_connections=9_488, accept_pauses=2, handshakes_waiting=7, handshakes_active=3, handshake_seconds=Histogram()
    )
    counters.accepting.handshake_seconds.observe(0.004)
    counters.events = {"lake": Queue(offered=3, delivered=1, delivered_bytes=300, dropped={"full": 1}, queued=1)}
    return counters


@dataclass
class _Group:
    state: str
    members: tuple[str, ...]


def groups() -> GroupCounters:
    """Return the counters of a stable hosted group and an empty one."""
    counters = GroupCounters({"orders": _Group("Stable", ("a", "b")), "idle": _Group("Empty", ())})
    counters.moves["Stable", "assigned"] += 4
    counters.rebalances.observe(3.2)
    counters.assignments.observe(0.02)
    counters.store.observe(0.004)
    counters.late_heartbeats = 5
    return counters


@dataclass
class Transactions:
    """Two are open, and some have ended in each way."""

    open: int = 2
    left_out: int = 1
    results: dict[str, int] = field(default_factory=lambda: {"committed": 1, "aborted": 2, "fenced": 3, "timed_out": 4})


@dataclass
class Accepts:
    """How clients are accepted."""

    max_connections: int
    accept_pauses: int
    handshakes_waiting: int
    handshakes_active: int
    handshake_seconds: Histogram


@dataclass
class Seen:
    """Known instances; their number is given."""

    count: int
    evicted: int = 0

    def __len__(self) -> int:
        return self.count


def telemetry() -> TelemetryCounters:
    """Return telemetry's counters, made of the classes of a running kproxy, after everything happened."""
    counted = Tally()
    counted.gets[0], counted.gets[89] = 7, 1
    counted.pushes[0], counted.pushes[117] = 5, 2
    counted.refused["address_time"] = 2
    counted.pushed_bytes, counted.decompressed_bytes, counted.decode_seconds = 1000, 9000, 0.25
    queue = ReceiverCounters(
        offered=5, delivered=2, delivered_bytes=3000, dropped={"late": 1}, retries=4, queued=2, queued_bytes=2500
    )
    return TelemetryCounters(counted, Seen(3, evicted=1), {"collector": queue}, {"scrape": Series(12, full=1)})


def many_series(at_least: int = 18_000) -> Counters:
    """Return counters that render to `at_least` lines: every API in several versions, with latencies."""
    counters = Counters(started_at=1_700_000_000.0)
    cluster = counters.cluster("large")
    lines_of_one = 43
    pairs = [(key, version) for version in range(20) for key in APIS][: at_least // lines_of_one + 1]
    for key, version in pairs:
        api = cluster.api(key, version)
        api.requests = api.responses = 1_000
        api.count_error(3)
        api.proxy.observe(0.0001)
        api.upstream.observe(0.002)
    return counters
