"""What a report may say, without tables: a busy day, hostile names, and next to nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from kproxy.pipeline.findings.finding import Finding
from kproxy.pipeline.findings.rule import Severity
from kproxy.pipeline.findings.window import Window
from kproxy.pipeline.report import timeline
from kproxy.pipeline.report.content import Content, Sections
from kproxy.pipeline.report.sections.churn import BOUNDS, Churner, Lifetimes
from kproxy.pipeline.report.sections.coverage import Coverage
from kproxy.pipeline.report.sections.errors import Error
from kproxy.pipeline.report.sections.fleet import Version
from kproxy.pipeline.report.sections.latency import Latency, SlowClient
from kproxy.pipeline.report.sections.rebalances import Group, Spell
from kproxy.pipeline.report.sections.rebootstrap import Abilities, Stranded
from kproxy.pipeline.report.sections.shapes import Listing, OverTime, Series, Unanswered
from kproxy.pipeline.report.sections.throughput import Busy, Passed

SINCE: Final = datetime(2026, 9, 21, tzinfo=UTC)
UNTIL: Final = SINCE + timedelta(days=1)
HOSTILE: Final = (
    "<script>alert(1)</script>",
    "\u202eevil\u202c-אבג-العربية",
    "x" * 256,
    "two\nlines\tand\x00a\x1bcontrol",
    "\"'&amp;]]>--><svg onload=alert(1)>",
    "${jndi}{{7*7}}{% raw %}",
    None,
)
"""Names as a client may send them."""


def over_time(*series: tuple[str, Callable[[float], float | None]], rest: int = -1) -> OverTime:
    """Values by hour; each series is a function of the part of the day."""
    line = timeline.hourly(SINCE, UNTIL)
    parts = [number / len(line.numbers) for number in range(len(line.numbers))]
    made = tuple(Series(name, tuple(map(curve, parts)), place == rest) for place, (name, curve) in enumerate(series))
    return OverTime(line.step, line.starts, made)


def finding(rule: str, severity: Severity, subject: str, reason: str = "It is so", **evidence: object) -> Finding:
    """A finding about a client."""
    return Finding(
        found_at=UNTIL,
        since=SINCE,
        until=UNTIL,
        rule=rule,
        severity=severity,
        cluster="main",
        subject=subject,
        kind="client",
        reason=reason,
        advice="Look at its log, and at the network between it and kproxy",
        evidence=json.dumps({"cluster": "main", "subject": subject, **evidence}),
        query=f"SELECT cluster, client_id AS subject, count(*) FROM clients WHERE rule = '{rule}' AND since >= :since",
    )


FINDINGS: Final = (
    finding(
        "producer-errors-rising",
        "critical",
        "payments-writer",
        "1.9% of its records are lost (412 of late), 0.0% were before; the usual of 38 clients is 0.0%",
        recent=0.019,
        past=0.0,
        recent_from="2026-09-21T18:00:00+00:00",
        records=412,
    ),
    finding(
        "producer-latency-rising",
        "warning",
        "orders-api",
        "Its producer requests take 93.4 ms, 7.8 times as long as the 12.0 ms before; the usual of 38 clients is 1.1",
        past=12.0,
        recent=93.4,
        noise=1.2,
    ),
    *(finding("connection-churn", "warning", f"cron-{number}", short_ones=361) for number in range(9)),
    finding("client-cannot-rebootstrap", "info", "legacy-loader", software="sarama", version=None),
)


def sections() -> Sections:
    """Those of a busy day."""
    hour = timedelta(hours=1)
    names = [f"service-{number}" for number in range(10)]
    return Sections(
        fleet=over_time(
            ("apache-kafka-java 4.2.0", lambda part: round(60 + 20 * part)),
            ("apache-kafka-java 3.9.1", lambda part: round(40 - 20 * part)),
            ("librdkafka 2.12.1", lambda part: 22),
            ("confluent-kafka-python 2.12.1-rdkafka-2.12.1", lambda part: 14),
            ("franz-go 1.20.4", lambda part: 9 if part < 0.8 else 12),
            ("sarama 1.45.2", lambda part: 4),
            ("7 others", lambda part: 6),
            rest=6,
        ),
        versions=Listing(
            tuple(Version("apache-kafka-java", f"4.{9 - n}.0", 80 - 7 * n, 70 - 7 * n, 90, UNTIL) for n in range(10)),
            13,
        ),
        latency=(
            Latency(
                "producer requests",
                91_210,
                over_time(
                    ("p50", lambda part: 11 + 3 * math.sin(6 * part)),
                    ("p99", lambda part: 45 + 20 * math.sin(6 * part) + (180 if 0.7 < part < 0.8 else 0)),
                ),
            ),
            Latency(
                "consumer fetches",
                44_000,
                over_time(
                    ("p50", lambda part: None if 0.4 < part < 0.5 else 210), ("p99", lambda part: 505 + 30 * part)
                ),
            ),
        ),
        slowest=Listing(tuple(SlowClient("main", name, "producer requests", 960, 80.0, 412.5) for name in names), 143),
        passed=Passed(
            over_time(
                ("from clients", lambda part: 5.2e6 * (1 + 0.4 * math.sin(6 * part))),
                ("to clients", lambda part: 14.1e6 * (1 + 0.4 * math.sin(6 * part))),
            ),
            over_time(("requests", lambda part: 8200 * (1 + 0.4 * math.sin(6 * part)))),
            449_280_000_000,
            1_218_240_000_000,
            708_480_000,
        ),
        records=over_time(("records sent", lambda part: 41_000 * (1 + 0.4 * math.sin(6 * part)))),
        busiest=Listing(tuple(Busy("main", name, 70_848_000, 44_928_000_000, 121_824_000_000) for name in names), 151),
        groups=Listing(
            (
                Group("main", "orders", 42, 318.0, 61.0, 0, "session_timeout", "orders-3", "orders-3"),
                Group("main", "payments", 6, 270.0, 45.0, 1, "member_joined", "payments-1", "payments-2"),
                Group("main", "audit-log-archiver-eu-west-1-blue", 2, 4.0, 2.1, 0, "metadata_changed", None, None),
            ),
            3,
        ),
        rebalances=(
            *(
                Spell(
                    "main",
                    "orders",
                    SINCE + 9 * hour + number * timedelta(minutes=12),
                    SINCE + 9 * hour + number * timedelta(minutes=12, seconds=20),
                    3,
                    "session_timeout",
                    61.0,
                )
                for number in range(14)
            ),
            Spell("main", "payments", SINCE + 3 * hour, SINCE + 3.2 * hour, 5, "member_joined", 45.0),
            Spell("main", "payments", SINCE + 23 * hour, None, 1, "member_left", None),
            Spell(
                "main",
                "audit-log-archiver-eu-west-1-blue",
                SINCE + 12 * hour,
                SINCE + 12.01 * hour,
                2,
                "metadata_changed",
                2.1,
            ),
        ),
        errors=over_time(
            ("application-recoverable", lambda part: 30 if part > 0.6 else 2),
            ("invalid-configuration", lambda part: 12),
            ("abortable", lambda part: 3 if 0.3 < part < 0.5 else 0),
        ),
        most_errors=Listing(
            (
                Error("application-recoverable", "INVALID_PRODUCER_EPOCH", "Produce", 311, 4, "payments-writer", UNTIL),
                Error("invalid-configuration", "TOPIC_AUTHORIZATION_FAILED", "Metadata", 288, 2, "legacy", UNTIL),
            ),
            2,
        ),
        abilities=Abilities(told=94, alone=31, unknown=9, cannot=17),
        cannot_rebootstrap=Listing(
            tuple(Stranded("main", f"legacy-{number}", "sarama", "1.45.2", 3, UNTIL) for number in range(10)), 17
        ),
        lifetimes=Lifetimes(4210, 4080, 611, dict(zip(BOUNDS, (1204, 1610, 402, 311, 290, 180, 83, 0), strict=True))),
        churners=Listing(
            tuple(Churner("main", f"cron-{number}", 361, 370, 1.5, "client_closed") for number in range(10)), 31
        ),
    )


def busy() -> Content:
    """A day with something of everything."""
    return Content(
        window=Window(SINCE, UNTIL, "24h before 2026-09-22 00:00 UTC"),
        place="/var/lib/kproxy-tables",
        made_at=UNTIL,
        clients=151,
        points=1_284_900,
        coverage=Coverage(SINCE - timedelta(days=9), UNTIL, SINCE - timedelta(days=9), UNTIL - timedelta(seconds=20)),
        findings=FINDINGS,
        broken=(),
        help={"producer-errors-rising": "A larger share of a producer's records is lost than before"},
        sections=sections(),
    )


def hostile() -> Content:
    """The same with names as nobody should give them."""
    day = sections()
    names = [*HOSTILE, *(f"{'long-' * 40}{number}" for number in range(3))]
    worst = "\n".join(name or "" for name in HOSTILE)
    return replace(
        busy(),
        findings=tuple(
            finding("connection-churn", "critical", name or "(none)", f"It is {worst}", by=name, all=list(HOSTILE))
            for name in names
        ),
        broken=(f"rule <b>broken</b>: {worst}",),
        sections=replace(
            day,
            fleet=over_time(*((name or "unknown software", lambda part: 3.0) for name in HOSTILE[:6])),
            latency=(
                Latency("producer requests", 1, over_time(("p50", lambda part: 1e-300), ("p99", lambda part: 1e300))),
            ),
            versions=Listing(tuple(Version(name, name, 5, 5, 5, UNTIL) for name in names), 4001),
            slowest=Listing(tuple(SlowClient(name, name, "producer requests", 1, 0.0, 1e12) for name in names), 4001),
            busiest=Listing(tuple(Busy(name, name, 10**15, 10**18, 10**18) for name in names), 4001),
            groups=Listing(tuple(Group(name, name, 10**6, 1e9, 1e6, 10**6, name, name, name) for name in names), 4001),
            rebalances=tuple(Spell(name, name, SINCE, None, 10**6, name, 1e6) for name in names),
            most_errors=Listing(tuple(Error(name, name, name, 10**12, 10**6, name, UNTIL) for name in names), 4001),
            cannot_rebootstrap=Listing(tuple(Stranded(name, name, name, name, 9, UNTIL) for name in names), 4001),
            churners=Listing(tuple(Churner(name, name, 10**9, 10**9, 1e-9, name) for name in names), 4001),
        ),
    )


def nothing(coverage: Coverage) -> Content:
    """A window without data."""
    answer = Unanswered("There is no table traffic: kproxy pipeline run makes it")
    none = Sections(**dict.fromkeys(Sections.__dataclass_fields__, answer))
    return replace(busy(), clients=0, points=0, findings=(), coverage=coverage, sections=none)


def one_point() -> Content:
    """A client that pushed once."""
    once = over_time(("p50", lambda part: 3.0 if part == 0.5 else None))
    none: Listing[Any] = Listing((), 0)
    empty = over_time()
    return replace(
        busy(),
        clients=1,
        points=1,
        findings=(),
        sections=replace(
            nothing(Coverage()).sections,
            fleet=over_time(("librdkafka 2.12.1", lambda part: float(part == 0.5))),
            latency=(Latency("producer requests", 1, once),),
            slowest=none,
            passed=Passed(empty, empty, 0, 0, 0),
            groups=none,
            errors=empty,
            most_errors=none,
            abilities=Abilities(unknown=1),
            cannot_rebootstrap=none,
            lifetimes=Lifetimes(0, 0, 0, dict.fromkeys(BOUNDS, 0)),
        ),
    )
