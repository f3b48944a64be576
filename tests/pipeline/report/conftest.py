"""Tables of a small day of which all numbers are counted by hand, and the report of it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import pytest

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.derived import rollups
from kproxy.pipeline.findings.rules.producers import LATENCY, NODE_LATENCY, SENT
from kproxy.pipeline.report.command import Report, report
from tests.pipeline.findings.fleet import SINCE, Fleet, hours
from tests.unit.pipeline.report.contents import HOSTILE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CLUSTER = "main"
LEGACY = 3000
JAVA: Final[dict[str, Any]] = {"software_name": "apache-kafka-java", "software_version": "4.2.0"}
DAY = "2026-09-22T00:00:00Z"


@pytest.fixture(scope="session")
def output(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Output:
    """The tables."""
    fleet = Fleet()
    for plant in (_connections, _clients, _metrics, _traffic, _rebalances, _errors):
        plant(fleet)
    written = fleet.write(spark, str(tmp_path_factory.mktemp("tables")))
    rollups.write(written, written.read(tables.POINTS))
    return written


@pytest.fixture(scope="session")
def made(output: Output) -> Report:
    """The report of the day."""
    return report(output.place, "24h", DAY, None)


def _connections(fleet: Fleet) -> None:
    fleet.connection(CLUSTER, "app", SINCE, None, **JAVA)
    fleet.connection(CLUSTER, "old", SINCE - timedelta(hours=1), 5400, **{**JAVA, "software_version": "2.8.0"})
    fleet.connection(CLUSTER, "gone", SINCE - timedelta(hours=2), 3600, **JAVA)
    morning = SINCE + timedelta(hours=6)
    fleet.connection(CLUSTER, "worker", morning, 10_799, software_name="librdkafka", software_version="2.12.1")
    for number in range(5):
        began = SINCE + timedelta(hours=10, minutes=number)
        fleet.connection(CLUSTER, "cron", began, 0.5, software_name="sarama", software_version="1.45.2")
    for name in HOSTILE:
        fleet.connection(CLUSTER, name, SINCE + timedelta(hours=12), 30)


def _clients(fleet: Fleet) -> None:
    fleet.client(CLUSTER, "app", kip_714=True)
    fleet.client(CLUSTER, "worker", rebootstrap="kip-899", software_name="librdkafka", software_version="2.12.1")
    fleet.add("clients", cluster=CLUSTER, client_id=None, first_seen=SINCE, last_seen=SINCE)
    sarama = {"software_name": "sarama", "software_version": "1.45.2"}
    fleet.client(CLUSTER, "upgraded", rebootstrap="no", last_seen=SINCE + timedelta(hours=2), **sarama)
    fleet.client(CLUSTER, "upgraded")
    for name in HOSTILE:
        for address in ("10.0.0.1", "10.0.0.2") if name else ():
            fleet.client(CLUSTER, name or "", rebootstrap="no", address=address, **sarama)
    for number in range(LEGACY):
        fleet.client(CLUSTER, f"legacy-{number}", rebootstrap="no", **sarama)


def _metrics(fleet: Fleet) -> None:
    """In one hour the latencies 1 to 100 ms, and 7200 records; in the next one a client that tells of its brokers."""
    fleet.pushes(CLUSTER, "app", (each + timedelta(minutes=59) for each in hours(*range(24))))
    fleet.pushes(CLUSTER, "pusher", hours(2, 3))
    for number in range(100):
        _point(fleet, "app", 5, LATENCY, number + 1)
        _point(fleet, "app", 5, SENT, 72, "delta")
    _point(fleet, "app", 5, NODE_LATENCY, 5000)
    _point(fleet, "goer", 6, NODE_LATENCY, 40)


def _point(fleet: Fleet, client: str, hour: int, metric: str, value: float, temporality: str | None = None) -> None:
    (when,) = hours(hour + 0.5)
    who = {"cluster": CLUSTER, "client_id": client, "client_instance_id": f"{client} 0", **JAVA}
    kind = {"type": "sum" if temporality else "gauge", "temporality": temporality}
    fleet.add("points", **who, **kind, date=when.date(), time=when, received_at=when, metric=metric, value=value)


def _traffic(fleet: Fleet) -> None:
    for hour in hours(*range(24)):
        passed = {"requests": 3600, "bytes_in": 7_200_000, "bytes_out": 36_000}
        fleet.add("traffic", cluster=CLUSTER, client_id="app", date=hour.date(), hour=hour, connections=1, **passed)


def _rebalances(fleet: Fleet) -> None:
    for number in range(3):
        began = SINCE + timedelta(hours=9, minutes=number)
        fleet.rebalance(CLUSTER, "orders", began, 10 + number, cause="session_timeout", client_id="flaky")
    (began,) = hours(20)
    fleet.add(
        "group_rebalances", cluster=CLUSTER, group="payments", date=began.date(), began=began, cause="member_left"
    )


def _errors(fleet: Fleet) -> None:
    for client, hour, count, error_class, error in (
        ("app", 12, 30, "application-recoverable", "INVALID_PRODUCER_EPOCH"),
        ("app", 13, 4, "invalid-configuration", "TOPIC_AUTHORIZATION_FAILED"),
        (HOSTILE[0], 13, 8, "invalid-configuration", "TOPIC_AUTHORIZATION_FAILED"),
    ):
        (when,) = hours(hour)
        what = {"api": "Produce", "error_class": error_class, "error": error, "errors": count}
        fleet.add(
            "errors_by_class", cluster=CLUSTER, client_id=client, date=when.date(), hour=when, last_at=when, **what
        )
