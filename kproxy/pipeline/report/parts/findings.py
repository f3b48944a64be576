# This module is pure (no I/O, no clock).
"""Findings, those of a rule together: what was found, what to do, and the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kproxy.pipeline.findings.finding import Finding
from kproxy.pipeline.findings.rule import SEVERITIES, Severity
from kproxy.pipeline.report.words import SENTENCE, evidence, shown

_EACH: Final = 5
"""Findings of a rule that are shown."""
HEADLINES: Final = 5
"""Rules whose worst finding is named at the top."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A finding in words."""

    severity: Severity
    about: str
    cluster: str
    reason: str
    advice: str
    evidence: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """The findings of a rule, the worst first."""

    rule: str
    severity: Severity
    help: str
    findings: tuple[Shown, ...]
    advice: str
    """What to do; empty when that differs between them."""
    query: str
    total: int

    @property
    def more(self) -> int:
        """How many are left out."""
        return self.total - len(self.findings)


def groups(findings: Iterable[Finding], help_of: Mapping[str, str]) -> tuple[Group, ...]:
    """Return the findings by rule, the rule with the worst one first."""
    by_rule: dict[str, list[Finding]] = {}
    for one in sorted(findings, key=lambda each: each.order):
        by_rule.setdefault(one.rule, []).append(one)
    return tuple(_group(rule, found, help_of.get(rule, "")) for rule, found in by_rule.items())


def _group(rule: str, found: Sequence[Finding], help_: str) -> Group:
    advice = {one.advice for one in found[:_EACH]}
    return Group(
        rule=rule,
        severity=found[0].severity,
        help=help_,
        findings=tuple(map(_shown, found[:_EACH])),
        advice=shown(found[0].advice, SENTENCE) if len(advice) == 1 else "",
        query=found[0].query,
        total=len(found),
    )


def _shown(one: Finding) -> Shown:
    return Shown(
        severity=one.severity,
        about=f"{one.kind} {shown(one.subject)}",
        cluster=shown(one.cluster),
        reason=shown(one.reason, SENTENCE),
        advice=shown(one.advice, SENTENCE),
        evidence=tuple(evidence(one.evidence)),
    )


def counts(findings: Iterable[Finding]) -> Mapping[Severity, int]:
    """Return how many there are of each severity, the worst first."""
    every = [one.severity for one in findings]
    return {severity: every.count(severity) for severity in SEVERITIES}
