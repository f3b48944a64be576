"""kproxy.pipeline.findings: each rule finds its trouble, and nothing where all is well or little is known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pyspark.sql.functions import col

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.findings.evaluate import Broken, evaluate, store
from kproxy.pipeline.findings.finding import Finding
from kproxy.pipeline.findings.rule import Rule
from kproxy.pipeline.findings.rules import RULES
from kproxy.pipeline.findings.window import Window
from tests.pipeline.findings.fleet import SINCE, UNTIL
from tests.pipeline.findings.troubles import PLANTED

WINDOW = Window(SINCE, UNTIL, "day")
RULE = Rule(name="r", help="h", kind="client", severity="info", query="SELECT 1", reason="r", advice="a")
NOW = datetime(2026, 9, 22, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def found(output: Output) -> Sequence[Finding]:
    """What all rules find, in one go."""
    results = list(evaluate(output, RULES, WINDOW, NOW))
    assert not [str(each) for each in results if isinstance(each, Broken)]
    return [each for each in results if isinstance(each, Finding)]


def test_each_rule_has_a_trouble() -> None:
    """A new rule needs one."""
    assert PLANTED.keys() == {rule.name for rule in RULES}


@pytest.mark.parametrize("name", PLANTED)
def test_the_trouble_is_found(name: str, found: Sequence[Finding]) -> None:
    """Of the right subject, in the right words."""
    trouble = PLANTED[name]
    of_rule = [each for each in found if each.cluster == name and each.rule == name]
    first = next((each for each in of_rule if each.subject == trouble.subject), None)
    assert first is not None, [(each.subject, each.reason) for each in of_rule]
    assert not [part for part in trouble.says if part not in first.reason], first.reason
    assert first.severity == trouble.severity
    assert (first.found_at, first.since, first.until) == (NOW, SINCE, UNTIL)
    assert {each.subject for each in of_rule} <= {trouble.subject, *trouble.others}


@pytest.mark.parametrize("name", PLANTED)
def test_nothing_else_is_found(name: str, found: Sequence[Finding]) -> None:
    """A trouble is one for its own rule, or for those that it names."""
    others = {each.rule for each in found if each.cluster == name} - {name}
    assert others == PLANTED[name].also


def test_a_healthy_fleet(found: Sequence[Finding]) -> None:
    """There is nothing to say of it."""
    assert [each for each in found if each.cluster == "healthy"] == []


def test_thin_data(found: Sequence[Finding]) -> None:
    """The same troubles, told by too little data for their rules."""
    assert [(each.rule, each.reason) for each in found if each.cluster == f"thin {each.rule}"] == []


def test_findings_are_kept(output: Output, found: Sequence[Finding]) -> None:
    """All columns; each query gives its evidence once more, as it is."""
    store(output, found)
    rows = output.read(tables.FINDINGS).where(col("found_at") == NOW).collect()
    assert sorted((row["rule"], row["cluster"], row["subject"]) for row in rows) == sorted(
        (each.rule, each.cluster, each.subject) for each in found
    )
    assert all(row[name] is not None for row in rows for name in tables.FINDINGS.names)
    one = next(row for row in rows if row["rule"] == "rebalance-storm")
    again = output.session.sql(one["query"]).where("cluster = 'rebalance-storm'").collect()[0]
    assert {name: again[name] for name in ("most", "cause", "members")} == {
        name: json.loads(one["evidence"])[name] for name in ("most", "cause", "members")
    }


def test_a_broken_rule(output: Output) -> None:
    """It is named in a line; the others go on."""
    fields = "SELECT cluster, client_id AS subject FROM clients"
    broken = [
        replace(RULE, name="no-sql", query="SELEKT 1"),
        replace(RULE, name="no-table", query="SELECT * FROM nowhere"),
        replace(RULE, name="no-subject", query="SELECT cluster FROM clients"),
        replace(RULE, name="no-column", query=fields, reason="{lag}"),
        replace(RULE, name="no-number", query=fields, reason="{subject:.1f}"),
        replace(RULE, name="no-severity", query="SELECT 'a' AS cluster, 'b' AS subject, 'dire' AS severity"),
        replace(RULE, name="fine", query="SELECT 'a' AS cluster, 5 AS subject, double('nan') AS x"),
    ]
    *lines, fine = evaluate(output, broken, WINDOW, NOW)
    texts = [str(each) for each in lines]
    assert [text.split(": ")[0] for text in texts] == [f"rule {rule.name}" for rule in broken[:-1]]
    assert [text for text in texts if "\n" in text] == []
    assert "SELEKT" in texts[0]
    assert "nowhere" in texts[1]
    assert texts[2:] == [
        "rule no-subject: its query returns no column 'subject'",
        "rule no-column: its query returns no column 'lag'",
        "rule no-number: Unknown format code 'f' for object of type 'str'",
        "rule no-severity: severity 'dire' of its query is none of critical, warning, info",
    ]
    assert isinstance(fine, Finding)
    assert (fine.subject, fine.evidence) == ("5", '{"cluster": "a", "subject": 5, "x": null}')
