"""A finding, as a row of the table `findings` and as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any

from kproxy.pipeline.findings.rule import SEVERITIES, Kind, Severity


@dataclass(frozen=True, slots=True)
class Finding:
    """The columns of `tables.FINDINGS`, but for its partition."""

    found_at: datetime
    since: datetime
    until: datetime
    rule: str
    severity: Severity
    cluster: str
    subject: str
    kind: Kind
    reason: str
    advice: str
    evidence: str
    query: str

    @property
    def date(self) -> date:
        """The partition."""
        return self.found_at.date()

    @property
    def order(self) -> tuple[int, str, str, str]:
        """The worst first, then by rule, and by what it is about."""
        return SEVERITIES.index(self.severity), self.rule, self.cluster, self.subject

    def row(self) -> dict[str, Any]:
        """A row of the table."""
        return {"date": self.date, **{field.name: getattr(self, field.name) for field in fields(self)}}

    def as_json(self) -> dict[str, Any]:
        """What `--format json` has of it: times as text, and the evidence as an object."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        times = {name: value.isoformat() for name, value in plain.items() if isinstance(value, datetime)}
        return {**plain, **times, "evidence": json.loads(self.evidence)}
