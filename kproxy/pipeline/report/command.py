"""`kproxy pipeline report`: from what the user wrote to a page, or to JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kproxy.pipeline.findings import command, installed, window
from kproxy.pipeline.findings.command import Result
from kproxy.pipeline.findings.rule import SEVERITIES
from kproxy.pipeline.report import page
from kproxy.pipeline.report.content import Content
from kproxy.pipeline.report.read import read


@dataclass(frozen=True, slots=True)
class Report:
    """What the tables tell of a time."""

    findings: Result
    content: Content

    @property
    def summary(self) -> str:
        """A line about it."""
        counted = Counter(finding.severity for finding in self.findings.findings)
        found = ", ".join(f"{counted[severity]} {severity}" for severity in SEVERITIES)
        return f"{self.findings.window.name}, {self.findings.clients:,} clients; findings: {found}"

    def page(self) -> str:
        """Return the page: HTML that needs nothing else."""
        return page.page(self.content)

    def as_json(self) -> dict[str, Any]:
        """Return the same as plain values; times are ISO."""
        return self.content.as_json()


def report(place: str, since: str, until: str | None, master: str | None) -> Report:
    """Apply the rules to the tables at `place`, as `findings` does, and ask for the rest; raises `PipelineError`."""
    looked_at = window.parse(since, until, datetime.now(UTC))
    rules = installed.rules()
    output = command.opened(place, "kproxy pipeline report", master)
    found = command.apply(output, rules, looked_at)
    covered, sections = read(output, looked_at)
    content = Content(
        window=looked_at,
        place=output.place,
        made_at=datetime.now(UTC),
        clients=found.clients,
        points=found.points,
        coverage=covered,
        findings=tuple(found.findings),
        broken=tuple(map(str, found.broken)),
        help={rule.name: rule.help for rule in rules},
        sections=sections,
    )
    return Report(found, content)
