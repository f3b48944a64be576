"""kproxy.pipeline.report on tables: its numbers are those that were counted by hand."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.report.command import Report
from tests.pipeline.report.conftest import CLUSTER, LEGACY
from tests.unit.pipeline.report.contents import HOSTILE

pytestmark = pytest.mark.timeout(600)  # whichever test is first waits for the tables and the report


@pytest.fixture(scope="module")
def plain(made: Report) -> dict[str, Any]:
    """The report as JSON."""
    return made.as_json()


def by_hour(values: dict[str, Any]) -> dict[str, dict[int, float]]:
    """The values that are there and not zero, by series and hour."""
    return {one["name"]: {hour: value for hour, value in enumerate(one["values"]) if value} for one in values["series"]}


def test_everything_is_answered(plain: dict[str, Any]) -> None:
    """No query fails, and no rule."""
    assert not [name for name, value in plain.items() if isinstance(value, dict) and "reason" in value]
    assert plain["broken_rules"] == []


def test_counts(plain: dict[str, Any]) -> None:
    """A client without an id is one, too."""
    named = [name for name in HOSTILE if name]
    assert plain["clients"] == LEGACY + len(named) + len(["app", "worker", "upgraded", None])
    assert plain["points"] == 202
    assert plain["coverage"]["first_event"] == "2026-09-20T22:00:00+00:00"
    assert plain["coverage"]["last_push"] == "2026-09-21T23:59:00+00:00"


def test_fleet(plain: dict[str, Any]) -> None:
    """A client is counted while it is connected, or pushes; one that left before the day is not."""
    assert by_hour(plain["fleet"]) == {
        "apache-kafka-java 4.2.0": {hour: 2.0 if hour in {2, 3} else 1.0 for hour in range(24)},
        "unknown software": {12: float(len(HOSTILE))},
        "librdkafka 2.12.1": {6: 1.0, 7: 1.0, 8: 1.0},
        "apache-kafka-java 2.8.0": {0: 1.0},
        "sarama 1.45.2": {10: 1.0},
    }
    first = plain["versions"]["rows"][0]
    assert (first["software"], first["clients"], first["addresses"]) == ("sarama", LEGACY + len(HOSTILE), 2)
    assert plain["versions"]["total"] == 4


def test_latency(plain: dict[str, Any]) -> None:
    """Quantiles are right to 1 %; the brokers' latency stands in only for clients that push no other."""
    (latency,) = plain["latency"]
    hours = by_hour(latency["over_time"])
    assert (latency["kind"], latency["averages"]) == ("producer requests", 101)
    assert hours["p50"] == pytest.approx({5: 50, 6: 40}, rel=0.01)
    assert hours["p99"] == pytest.approx({5: 99, 6: 40}, rel=0.01)
    assert [(one["client_id"], one["averages"]) for one in plain["slowest"]["rows"]] == [("app", 100), ("goer", 1)]


def test_throughput(plain: dict[str, Any]) -> None:
    """By second."""
    every = range(24)
    assert by_hour(plain["passed"]["bytes"]) == {
        "from clients": dict.fromkeys(every, 2000.0),
        "to clients": dict.fromkeys(every, 10.0),
    }
    assert by_hour(plain["passed"]["requests"]) == {"requests": dict.fromkeys(every, 1.0)}
    assert plain["passed"]["bytes_in"] == 24 * 7_200_000
    assert by_hour(plain["records"]) == {"records sent": {5: 2.0}}
    assert plain["busiest"]["rows"] == [
        {
            "cluster": CLUSTER,
            "client_id": "app",
            "requests": 24 * 3600,
            "bytes_in": 24 * 7_200_000,
            "bytes_out": 24 * 36_000,
        }
    ]


def test_rebalances(plain: dict[str, Any]) -> None:
    """Those of a group that follow closely are one bar; one that lasts has no end."""
    orders, payments = plain["groups"]["rows"]
    assert (orders["group"], orders["rebalances"], orders["seconds"], orders["longest"]) == ("orders", 3, 33.0, 12.0)
    assert (payments["group"], payments["rebalances"], payments["unended"]) == ("payments", 1, 1)
    assert [(one["group"], one["rebalances"], one["began"], one["ended"]) for one in plain["rebalances"]] == [
        ("orders", 3, "2026-09-21T09:00:00+00:00", "2026-09-21T09:02:12+00:00"),
        ("payments", 1, "2026-09-21T20:00:00+00:00", None),
    ]


def test_errors(plain: dict[str, Any]) -> None:
    """By class and hour, and the most frequent first."""
    assert by_hour(plain["errors"]) == {"application-recoverable": {12: 30.0}, "invalid-configuration": {13: 12.0}}
    assert [(one["error"], one["errors"], one["clients"], one["mostly"]) for one in plain["most_errors"]["rows"]] == [
        ("INVALID_PRODUCER_EPOCH", 30, 1, "app"),
        ("TOPIC_AUTHORIZATION_FAILED", 12, 2, HOSTILE[0]),
    ]


def test_rebootstrap(plain: dict[str, Any]) -> None:
    """A client that was upgraded is judged by its new version; a long list is cut, and says so."""
    cannot = LEGACY + len(HOSTILE) - 1
    assert plain["abilities"] == {"told": 2, "alone": 1, "unknown": 1, "cannot": cannot}
    assert (len(plain["cannot_rebootstrap"]["rows"]), plain["cannot_rebootstrap"]["total"]) == (10, cannot)


def test_churn(plain: dict[str, Any]) -> None:
    """Connections by how long they lasted, of those that ended in the day."""
    lifetimes = plain["lifetimes"]
    hostile = len(HOSTILE)
    assert (lifetimes["opened"], lifetimes["ended"], lifetimes["open"]) == (7 + hostile, 7 + hostile, 1)
    assert {name: count for name, count in lifetimes["by_lifetime"].items() if count} == {
        "< 1 s": 5,
        "10–60 s": hostile,
        "1–6 h": 2,
    }
    first = plain["churners"]["rows"][0]
    assert (first["client_id"], first["short"], first["mostly"]) == ("cron", 5, "client_closed")
    assert plain["churners"]["total"] == 1 + hostile


def test_findings_are_kept(made: Report, output: Output) -> None:
    """Those of the report are in the table, as `findings` stores them."""
    counted = Counter(one.rule for one in made.findings.findings)
    assert counted == {"client-cannot-rebootstrap": LEGACY + len(HOSTILE) - 1, "rebalance-waits-for-member": 1}
    assert output.read(tables.FINDINGS).count() == len(made.findings.findings)


def test_the_page_is_bounded(made: Report) -> None:
    """Thousands of clients make no page that a phone cannot load, and nothing that they sent is read as HTML."""
    page = made.page()
    assert len(page) < 200_000
    assert "<script" not in page
    assert f"and {LEGACY + len(HOSTILE) - 1 - 5:,} more of this rule" in page
    assert made.summary == "24h before 2026-09-22 00:00 UTC, 3,010 clients; findings: 0 critical, 1 warning, 3006 info"
