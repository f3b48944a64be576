"""kproxy.pipeline.findings.finding: a finding as a row, and as JSON."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from kproxy.pipeline import tables
from kproxy.pipeline.findings.finding import Finding

FOUND = Finding(
    found_at=datetime(2026, 9, 22, 1, tzinfo=UTC),
    since=datetime(2026, 9, 21, tzinfo=UTC),
    until=datetime(2026, 9, 22, tzinfo=UTC),
    rule="some-rule",
    severity="info",
    cluster="main",
    subject="app",
    kind="client",
    reason="It is so",
    advice="Do this",
    evidence='{"lag": 5}',
    query="SELECT 1",
)


def test_a_row() -> None:
    """It has the columns of the table."""
    assert tuple(FOUND.row()) == tables.FINDINGS.names
    assert FOUND.row()["date"] == FOUND.found_at.date()


def test_json() -> None:
    """Times are ISO; the evidence is an object."""
    plain = FOUND.as_json()
    assert (plain["since"], plain["evidence"], plain["rule"]) == ("2026-09-21T00:00:00+00:00", {"lag": 5}, "some-rule")


def test_order() -> None:
    """The worst first."""
    worse = replace(FOUND, severity="critical", rule="z")
    warning = replace(FOUND, severity="warning")
    assert sorted((FOUND, warning, worse), key=lambda each: each.order) == [worse, warning, FOUND]
