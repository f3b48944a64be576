"""What a report says, as plain values: the page and the JSON are made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from kproxy.pipeline.findings.finding import Finding
from kproxy.pipeline.findings.window import Window
from kproxy.pipeline.report.sections.churn import Churner, Lifetimes
from kproxy.pipeline.report.sections.coverage import Coverage
from kproxy.pipeline.report.sections.errors import Error
from kproxy.pipeline.report.sections.fleet import Version
from kproxy.pipeline.report.sections.latency import Latency, SlowClient
from kproxy.pipeline.report.sections.rebalances import Group, Spell
from kproxy.pipeline.report.sections.rebootstrap import Abilities, Stranded
from kproxy.pipeline.report.sections.shapes import Listing, OverTime, Unanswered
from kproxy.pipeline.report.sections.throughput import Busy, Passed


@dataclass(frozen=True, slots=True)
class Sections:
    """The answers of the tables; each may be missing."""

    fleet: OverTime | Unanswered
    versions: Listing[Version] | Unanswered
    latency: tuple[Latency, ...] | Unanswered
    slowest: Listing[SlowClient] | Unanswered
    passed: Passed | Unanswered
    records: OverTime | Unanswered
    busiest: Listing[Busy] | Unanswered
    groups: Listing[Group] | Unanswered
    rebalances: tuple[Spell, ...] | Unanswered
    errors: OverTime | Unanswered
    most_errors: Listing[Error] | Unanswered
    abilities: Abilities | Unanswered
    cannot_rebootstrap: Listing[Stranded] | Unanswered
    lifetimes: Lifetimes | Unanswered
    churners: Listing[Churner] | Unanswered


@dataclass(frozen=True, slots=True)
class Content:
    """Everything that is known of a time."""

    window: Window
    place: str
    made_at: datetime
    clients: int
    points: int
    coverage: Coverage
    findings: tuple[Finding, ...]
    """The worst first."""
    broken: tuple[str, ...]
    """A line for each rule that could not be applied."""
    help: Mapping[str, str]
    """What each rule finds, by its name."""
    sections: Sections

    @property
    def empty(self) -> bool:
        """True when the tables have nothing of the window."""
        return not self.clients and not self.points and not self.findings

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it: times as text, and each finding with its evidence as an object."""
        return {
            "since": self.window.since.isoformat(),
            "until": self.window.until.isoformat(),
            "tables": self.place,
            "made_at": self.made_at.isoformat(),
            "clients": self.clients,
            "points": self.points,
            "coverage": _plain(asdict(self.coverage)),
            "findings": [finding.as_json() for finding in self.findings],
            "broken_rules": list(self.broken),
            **_plain(asdict(self.sections)),
        }


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
