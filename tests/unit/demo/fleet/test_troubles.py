"""kproxy.demo.fleet.troubles and verdict: each rule has a trouble, and findings are judged by what was planted."""

from __future__ import annotations

from datetime import UTC, datetime

from kproxy.demo.fleet.day import Day
from kproxy.demo.fleet.model import BROKERS, PROXIES
from kproxy.demo.fleet.troubles import Planted
from kproxy.demo.fleet.verdict import judge
from kproxy.pipeline.findings.finding import Finding
from kproxy.pipeline.findings.rules import RULES

NOW = datetime(2026, 9, 22, tzinfo=UTC)
LEAK = Planted("a leak", (("connection-leak", "app"), ("connection-churn", "app")))
CLOCK = Planted("a clock", (("clock-wrong", "other"),))


def finding(rule: str, subject: str, cluster: str = "shop") -> Finding:
    """What a rule found."""
    return Finding(NOW, NOW, NOW, rule, "info", cluster, subject, "client", "r", "a", "{}", "SELECT 1")


def test_each_rule_has_a_trouble(of_5: Day) -> None:
    """And each trouble names rules that there are."""
    expected = [pair for planted in of_5.planted for pair in planted.expected]
    assert {rule for rule, _ in expected} == {rule.name for rule in RULES}
    assert len(expected) == len(set(expected))


def test_each_subject_is_in_the_fleet(of_5: Day) -> None:
    """As its rule names it."""
    fleet, kinds = of_5.fleet, {rule.name: rule.kind for rule in RULES}
    software = [instance.software for client in fleet.clients for instance in client.instances]
    there: dict[str, set[str | None]] = {
        "client": {client.id for client in fleet.clients},
        "group": set(fleet.groups),
        "broker": set(map(str, BROKERS)),
        "version": {f"{one.name} {one.version}" for one in software},
        "proxy": set(PROXIES),
        "address": {refused.address for _, _, refused in fleet.refused},
    }
    for planted in of_5.planted:
        assert [pair for pair in planted.expected if pair[1] not in there[kinds[pair[0]]]] == []


def test_all_found() -> None:
    """Findings of another cluster, and of rules that are not kproxy's own, are none of its business."""
    found = [finding("connection-leak", "app"), finding("connection-churn", "app"), finding("clock-wrong", "other")]
    verdict = judge([LEAK, CLOCK], [*found, finding("clock-wrong", "app", "else"), finding("acme", "app")], "shop")
    assert (verdict.found, verdict.expected, verdict.precision, verdict.recall) == (3, 3, 1.0, 1.0)
    assert verdict.perfect


def test_missed_and_false() -> None:
    """A trouble needs all of its findings; one that is none of them is a false alarm."""
    verdict = judge([LEAK, CLOCK], [finding("connection-leak", "app"), finding("clock-wrong", "healthy")], "shop")
    assert verdict.missed == {("connection-churn", "app"), ("clock-wrong", "other")}
    assert [one.subject for one in verdict.false_alarms] == ["healthy"]
    assert (verdict.precision, verdict.recall) == (1 / 2, 1 / 3)
    assert not verdict.has(LEAK)
    assert not verdict.perfect
    assert judge([LEAK], [], "shop").precision == 1.0
