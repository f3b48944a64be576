"""For each rule a trouble, in a cluster of its own, enough of it or too little; and a fleet that is healthy.

`PLANTED` has them by the rule's name. A `plant` gets the fleet, the cluster, and whether there is enough data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from kproxy.pipeline.findings.rules import consumers, producers
from tests.pipeline.findings.fleet import DAY, PUSHES, SINCE, Curve, Fleet, at, hours

Plant = Callable[[Fleet, str, bool], None]
FEW: Final = 8
"""Too few pushes in a day for a trend."""


@dataclass(frozen=True)
class Trouble:
    """What a rule has to find, and what it says of it."""

    plant: Plant
    subject: str
    says: tuple[str, ...]
    severity: str = "warning"
    also: frozenset[str] = frozenset()
    """Other rules that the same trouble is one for."""
    others: frozenset[str] = frozenset()
    """Other subjects that the rule finds."""


def flat(value: float) -> Curve:
    """Always the same."""
    return lambda _: value


def step(before: float, after: float, when: float = 0.6) -> Curve:
    """From some time on another value."""
    return lambda part: before if part < when else after


def evening(value: float) -> Curve:
    """Half as much again in the evening, as for all."""
    return lambda part: value * (1 + 0.5 * math.sin(math.pi * part))


def healthy(fleet: Fleet, cluster: str) -> None:
    """Ten clients of which nothing is to be said."""
    for number in range(10):
        name = f"app-{number}"
        fleet.client(cluster, name, rebootstrap="kip-899" if number % 2 else "129")
        fleet.gauge(cluster, name, producers.LATENCY, evening(10))
        for node in (1, 2, 3):
            labels = {"node_id": f"node-{node}"} if number % 2 else {"node.id": str(node)}
            fleet.gauge(cluster, name, producers.NODE_LATENCY, evening(10), labels=labels)
            fleet.connection(cluster, name, SINCE, None, node=node)
        # In the evening a broker restarts: all send everything again, for the time of one push.
        counted(fleet, cluster, name, producers.RETRIED, lambda part: 990 if 0.8 < part < 0.81 else 1)
        counted(fleet, cluster, name, producers.FAILED, flat(0))
        fleet.gauge(cluster, name, consumers.LAG, evening(500))
        fleet.gauge(cluster, name, consumers.BETWEEN_POLLS, flat(20_000))
        fleet.gauge(cluster, name, consumers.SINCE_POLL, flat(5))
        fleet.gauge(cluster, name, consumers.IDLE, evening(0.5))
        fleet.gauge(cluster, name, consumers.REBALANCES, flat(0.2), temporality="delta")
        fleet.pushes(cluster, name, (at((each + 0.5) / PUSHES) for each in range(PUSHES)))
        fleet.pushes(cluster, name, hours(*range(1, 8)), instance=1, closed=True)
        for each in range(4):
            fleet.connection(cluster, name, SINCE + timedelta(hours=6 * each), 5, bytes_in=1000, bytes_out=1000)
            fleet.rebalance(cluster, f"group-{number}", SINCE + timedelta(hours=6 * each), 2.0)
        requests(fleet, cluster, name, "4.2.0", 0, 5000)


def counted(fleet: Fleet, cluster: str, client: str, metric: str, bad: Curve, pushes: int = PUSHES) -> None:
    """Records sent, and how many of them of another kind."""
    fleet.gauge(cluster, client, producers.SENT, flat(1000), temporality="delta", pushes=pushes)
    fleet.gauge(cluster, client, metric, bad, temporality="delta", pushes=pushes)


def requests(fleet: Fleet, cluster: str, client: str, version: str, hour: int, count: int) -> None:
    """What passed in an hour."""
    when = SINCE + timedelta(hours=hour)
    who = {"cluster": cluster, "client_id": client, "software_name": "apache-kafka-java", "software_version": version}
    fleet.add("traffic", **who, date=when.date(), hour=when, address="10.0.0.1", connections=1, requests=count)


def _latency(fleet: Fleet, cluster: str, enough: bool) -> None:
    pushes = PUSHES if enough else FEW
    fleet.gauge(cluster, "slow", producers.LATENCY, step(10, 90), pushes=pushes)
    fleet.gauge(cluster, "trifle", producers.LATENCY, step(1, 6), pushes=pushes)
    for number in range(6):
        fleet.gauge(cluster, f"app-{number}", producers.LATENCY, evening(10), pushes=pushes)
    # A broker gets slower, for all; one client writes to no other broker.
    for number in range(6):
        for node in (1, 2, 3) if number else (3,):
            latency = step(10, 90) if node == 3 else flat(10)
            fleet.gauge(cluster, f"to-{number}", producers.NODE_LATENCY, latency, labels={"node_id": f"node-{node}"})


def _retries(fleet: Fleet, cluster: str, enough: bool) -> None:
    counted(fleet, cluster, "retrier", producers.RETRIED, step(0, 80), PUSHES if enough else FEW)
    for number in range(6):
        counted(fleet, cluster, f"app-{number}", producers.RETRIED, flat(1))


def _errors(fleet: Fleet, cluster: str, enough: bool) -> None:
    counted(fleet, cluster, "loser", producers.FAILED, flat(10), PUSHES if enough else FEW)
    for number in range(6):
        counted(fleet, cluster, f"app-{number}", producers.FAILED, flat(0))


def _lag(fleet: Fleet, cluster: str, enough: bool) -> None:
    pushes = PUSHES if enough else FEW
    fleet.gauge(cluster, "behind", consumers.LAG, lambda part: 100 + 100_000 * part, instance=1, pushes=pushes)
    fleet.gauge(cluster, "behind", consumers.LAG, flat(100), pushes=pushes)
    fleet.gauge(cluster, "catching-up", consumers.LAG, lambda part: 100_000 * (1 - part), pushes=pushes)
    # In the evening more is under way, since more is read.
    fleet.gauge(cluster, "large", consumers.LAG, step(1_000, 6_000), pushes=pushes)
    fleet.gauge(cluster, "large", consumers.CONSUMED, step(1e6, 6e6), temporality="delta", pushes=pushes)


def _polls(fleet: Fleet, cluster: str, enough: bool) -> None:
    fleet.gauge(cluster, "dawdler", consumers.BETWEEN_POLLS, flat(20_000))
    fleet.gauge(cluster, "dawdler", consumers.SINCE_POLL, flat(250), pushes=20 if enough else 2)


def _saturated(fleet: Fleet, cluster: str, enough: bool) -> None:
    fleet.gauge(cluster, "busy", consumers.IDLE, step(0.6, 0.02), pushes=PUSHES if enough else FEW)
    for number in range(6):
        fleet.gauge(cluster, f"app-{number}", consumers.IDLE, flat(0.5))


def _rebalances(fleet: Fleet, cluster: str, enough: bool) -> None:
    count = PUSHES if enough else 4
    fleet.gauge(cluster, "restless", consumers.REBALANCES, flat(5), temporality="delta", pushes=count)


def _storm(fleet: Fleet, cluster: str, enough: bool) -> None:
    for number in range(30 if enough else 5):
        began = SINCE + timedelta(hours=9, seconds=100 * number)
        fleet.rebalance(cluster, "orders", began, 3, cause="session_timeout", client_id="flaky")


def _late(fleet: Fleet, cluster: str, enough: bool) -> None:
    for hour in range(6 if enough else 2):
        fleet.rebalance(cluster, "payments", SINCE + timedelta(hours=hour), 45, late="sleeper")
        fleet.rebalance(cluster, "orders", SINCE + timedelta(hours=hour), 2)
    # All members have one client.id, so it is always the late one; of many rebalances some are slow.
    for number in range(140):
        seconds = 12 if number % 30 == 7 else 2
        fleet.rebalance(cluster, "restless", SINCE + timedelta(minutes=10 * number), seconds, late="restless")


def _version(fleet: Fleet, cluster: str, enough: bool) -> None:
    # 2.10.0 comes after 2.8.0, and 2.5.3 is the one with the remedy of 2.5.0.
    known = ("2.10.0", "2.15.0", "unheard-of") if not enough else ("2.10.0", "2.5.0", "2.13.0")
    for number, version in enumerate(known):
        fleet.client(cluster, f"app-{number}", software_name="librdkafka", software_version=version)
    if enough:
        fleet.client(cluster, "py", software_name="confluent-kafka-python", software_version="2.5.0-rdkafka-2.15.0")


def _no_rebootstrap(fleet: Fleet, cluster: str, enough: bool) -> None:
    fleet.client(
        cluster, "old", software_name="sarama", software_version="1.40.0", rebootstrap="no" if enough else "unknown"
    )
    yesterday = {"first_seen": SINCE, "last_seen": SINCE + timedelta(hours=2)}
    fleet.client(cluster, "upgraded", software_name="sarama", software_version="1.40.0", rebootstrap="no", **yesterday)
    fleet.client(cluster, "upgraded", rebootstrap="129")


def _error_shift(fleet: Fleet, cluster: str, enough: bool) -> None:
    change = SINCE + timedelta(hours=12)
    fleet.client(cluster, "shifted", last_seen=change)
    fleet.client(cluster, "shifted", software_version="4.3.0", first_seen=change)
    for hour in range(24):
        version, errors = ("4.2.0", 1) if hour < 12 else ("4.3.0", 40 if enough else 1)
        requests(fleet, cluster, "shifted", version, hour, 1000)
        when = SINCE + timedelta(hours=hour)
        who = {"cluster": cluster, "client_id": "shifted", "software_name": "apache-kafka-java"}
        what = {"api": "Produce", "error": "INVALID_RECORD", "error_class": "invalid-configuration", "errors": errors}
        fleet.add(
            "errors_by_class",
            **who,
            **what,
            software_version=version,
            date=when.date(),
            hour=when,
            first_at=when,
            last_at=when,
        )


def _churn(fleet: Fleet, cluster: str, enough: bool) -> None:
    for hour in range(3 if enough else 1):
        for number in range(120):
            fleet.connection(cluster, "churner", SINCE + timedelta(hours=hour, seconds=20 * number), 1.5)
    for number in range(6):
        fleet.connection(cluster, f"app-{number}", SINCE, 10)


def _leak(fleet: Fleet, cluster: str, enough: bool) -> None:
    for number in range(90 if enough else 12):
        fleet.connection(cluster, "leaky", SINCE + timedelta(minutes=15 * number), None)
    for number in range(90):
        fleet.connection(cluster, "grown", SINCE + timedelta(minutes=15 * number), None, address=f"10.0.1.{number}")


def _cut_off(fleet: Fleet, cluster: str, enough: bool) -> None:
    for number in range(10 if enough else 3):
        fleet.connection(cluster, "stalling", SINCE + timedelta(hours=number), 300, reason="stalled_frame")


def _proxy(fleet: Fleet, cluster: str, enough: bool) -> None:
    for number in range(5 if enough else 2):
        fleet.connection(cluster, f"app-{number}", SINCE + timedelta(hours=number), 300, reason="memory_limit")


def _not_admitted(fleet: Fleet, cluster: str, enough: bool) -> None:
    for hour in range(6 if enough else 4):
        fleet.refused(cluster, "10.0.7.7", at(hour / 24), "tls_on_plaintext")
        fleet.refused(cluster, "10.0.7.8", at(hour / 24), "connect_failed")  # a broker's fault, not a client's


def _turned_away(fleet: Fleet, cluster: str, enough: bool) -> None:
    for minute in range(3):
        fleet.refused(
            cluster, "10.0.7.9", SINCE + timedelta(hours=9, minutes=minute), "client_limit", 40 if enough else 0
        )
    fleet.refused(cluster, "10.0.7.8", at(9 / 24), "client_limit")


def _silent(fleet: Fleet, cluster: str, enough: bool) -> None:
    quarters = [at((each + 0.5) / PUSHES) for each in range(PUSHES)]
    fleet.pushes(cluster, "mute", quarters)
    fleet.pushes(cluster, "mute", quarters[:40] if enough else quarters[:4], instance=1)
    fleet.connection(cluster, "mute", SINCE, None, address="10.0.0.2", port=40_001)
    # Killed, and another one took its place: no trouble.
    fleet.pushes(cluster, "replaced", quarters[:40])
    for number in (1, 2):
        fleet.pushes(cluster, "replaced", quarters, instance=number)
    fleet.pushes(cluster, "replaced", quarters[41:], instance=3)
    # Scaled down: a Java client that closes pushes no last time.
    for number in range(4):
        fleet.pushes(cluster, "scaled", quarters if number else quarters[:40], instance=number)
    fleet.connection(cluster, "scaled", SINCE, 40 * 900, address="10.0.0.1", port=40_000)
    # Gone, and nothing came in its place.
    for number in range(4):
        fleet.pushes(cluster, "decimated", quarters if number or not enough else quarters[:40], instance=number)
    fleet.connection(cluster, "decimated", SINCE, 40 * 900, address="10.0.0.1", port=40_000, reason="client_reset")


def _clock(fleet: Fleet, cluster: str, enough: bool) -> None:
    fleet.pushes(cluster, "ahead", hours(*range(10)) if enough else hours(1, 2), clock=86_400)


def _broker_slow(fleet: Fleet, cluster: str, enough: bool) -> None:
    for number in range(8 if enough else 3):
        for node in (1, 2, 3):
            latency = flat(60 if node == 2 else 10)
            fleet.gauge(cluster, f"app-{number}", producers.NODE_LATENCY, latency, labels={"node_id": f"node-{node}"})
        for other in ("node--1", f"node-{2**31 - 2}"):
            fleet.gauge(cluster, f"app-{number}", producers.NODE_LATENCY, flat(500), labels={"node_id": other})


def _broker_rising(fleet: Fleet, cluster: str, enough: bool) -> None:
    for number in range(8 if enough else 3):
        fleet.gauge(cluster, f"app-{number}", producers.NODE_LATENCY, step(10, 80), labels={"node.id": "5"})


def _skew(fleet: Fleet, cluster: str, enough: bool) -> None:
    for number in range(12 if enough else 4):
        for node in (1, 2, 3):
            # What passed before the window does not count, however much it was.
            fleet.connection(cluster, f"app-{number}", SINCE - 20 * DAY, None, node=node, bytes_in=10**12 // node)
            fleet.traffic(cluster, f"app-{number}", at(0.5), node=node, bytes_in=10**9 if node == 3 else 10**7)


PLANTED: Final = {
    "producer-latency-rising": Trouble(
        _latency,
        "slow",
        ("times as long as the", "the usual of 8 clients is 0.9 times"),
        also=frozenset({"broker-latency-rising"}),
    ),
    "producer-retries-rising": Trouble(_retries, "retrier", ("of its records are sent again", "0.0% were before")),
    "producer-errors-rising": Trouble(_errors, "loser", ("1.0% of its records are lost",), "critical"),
    "consumer-lag-growing": Trouble(_lag, "behind", ("Its lag grew from 2", "by some 4", "1 of its instances")),
    "consumer-poll-near-limit": Trouble(_polls, "dawdler", ("300 s is the limit", "20 of 116 pushes")),
    "consumer-saturated": Trouble(_saturated, "busy", ("waits for records in 2% of its time",), "info"),
    "consumer-rebalances-often": Trouble(_rebalances, "restless", ("rebalances an hour",)),
    "rebalance-storm": Trouble(
        _storm, "orders", ("30 rebalances, 30 of them", "from 09:00", "session_timeout", "flaky")
    ),
    "rebalance-waits-for-member": Trouble(_late, "payments", ("6 of its 6 slow", "waited for sleeper, 45 s")),
    "version-known-trouble": Trouble(_version, "librdkafka 2.5.0", ("1 clients (1 client ids)", "aborts"), "critical"),
    "client-cannot-rebootstrap": Trouble(_no_rebootstrap, "old", ("sarama 1.40.0 at 1 addresses",), "info"),
    "errors-after-version-change": Trouble(
        _error_shift,
        "shifted",
        ("4.3.0 (since 2026-09-21 12:00)", "480 errors", "4.00% of its requests", "4.2.0 0.10%"),
    ),
    "connection-churn": Trouble(_churn, "churner", ("360 connections", "up to 120 in an hour", "client_closed")),
    "connection-leak": Trouble(_leak, "leaky", ("holds 90 connections from 1 addresses",)),
    "connections-cut-off": Trouble(_cut_off, "stalling", ("10 of its 10 connections", "stalled_frame")),
    "proxy-short-of-resources": Trouble(_proxy, "proxy-1", ("5 connections by memory_limit",), "critical"),
    "clients-not-admitted": Trouble(_not_admitted, "10.0.7.7", ("At least 6 connections", "tls_on_plaintext")),
    "clients-turned-away": Trouble(
        _turned_away,
        "proxy-1",
        ("turned 124 connections away by client_limit", "from 10.0.7.9", "09:00 to 09:02"),
        "critical",
    ),
    "instance-stopped-pushing": Trouble(
        _silent, "mute", ("1 of them connected", "10.0.0.2", "every 900 s"), others=frozenset({"decimated"})
    ),
    "clock-wrong": Trouble(_clock, "ahead", ("s ahead, in the median of 10 pushes",)),
    "broker-slow": Trouble(_broker_slow, "2", ("times as long for it", "so say 8 of 8 clients")),
    "broker-latency-rising": Trouble(_broker_rising, "5", ("median of 8 client instances",), also=frozenset()),
    "broker-traffic-skew": Trouble(_skew, "3", ("98% of the traffic of 3 brokers",), "info"),
}
