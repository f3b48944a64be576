"""Run rules on the tables of an output; what they find goes to the table `findings`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from pyspark.errors import PySparkException
from pyspark.sql import Row

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.findings import queries
from kproxy.pipeline.findings.finding import Finding
from kproxy.pipeline.findings.rule import SEVERITIES, Rule, Severity
from kproxy.pipeline.findings.window import Window

_AT_ONCE: Final = 4
"""Spark plans a query on one core, while others run."""
_REQUIRED: Final = ("cluster", "subject")


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that could not be applied; the others were."""

    rule: str
    problem: str

    def __str__(self) -> str:
        """One line."""
        return f"rule {self.rule}: {self.problem}"


def evaluate(output: Output, rules: Sequence[Rule], window: Window, found_at: datetime) -> Iterator[Finding | Broken]:
    """Apply rules, several at once; yield what each one found, in their order."""

    def apply(rule: Rule) -> list[Finding] | Broken:
        try:
            return _apply(output, rule, window, found_at)
        except (PySparkException, ValueError, TypeError, LookupError, AttributeError) as error:
            return Broken(rule.name, line(error))

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for result in pool.map(apply, rules):
            yield from [result] if isinstance(result, Broken) else result


def store(output: Output, findings: Iterable[Finding]) -> None:
    """Append findings to their table, which is made when it is missing."""
    output.create([tables.FINDINGS])
    rows = [tuple(finding.row()[name] for name in tables.FINDINGS.names) for finding in findings]
    if rows:
        frame = output.session.createDataFrame(rows, tables.FINDINGS.schema)
        output.add(tables.FINDINGS, frame.coalesce(1))


def _apply(output: Output, rule: Rule, window: Window, found_at: datetime) -> list[Finding]:
    values: dict[str, queries.Value] = {"since": window.since, "until": window.until, **rule.values}
    query = queries.runnable(rule.query, values, output.path)
    frame = output.session.sql(query)
    if missing := [
        name for name in (*_REQUIRED, *sorted(rule.fields - rule.values.keys())) if name not in frame.columns
    ]:
        raise ValueError(f"its query returns no column {missing[0]!r}")
    make = _maker(rule, window, found_at, query)
    return [make(row) for row in frame.collect()]


def _maker(rule: Rule, window: Window, found_at: datetime, query: str) -> Callable[[Row], Finding]:
    def make(row: Row) -> Finding:
        columns = {name: in_utc(value) for name, value in row.asDict(recursive=True).items()}
        words = {**rule.values, **columns}
        return Finding(
            found_at=found_at,
            since=window.since,
            until=window.until,
            rule=rule.name,
            severity=_severity(columns.get("severity") or rule.severity),
            cluster=columns["cluster"] or "",
            subject=str(columns["subject"]) if columns["subject"] not in {None, ""} else "(none)",
            kind=rule.kind,
            reason=rule.reason.format_map(words),
            advice=rule.advice.format_map(words),
            evidence=evidence(columns),
            query=query,
        )

    return make


def _severity(text: str) -> Severity:
    known = next((severity for severity in SEVERITIES if severity == text), None)
    if known is None:
        raise ValueError(f"severity {text!r} of its query is none of {', '.join(SEVERITIES)}")
    return known


def in_utc(value: Any) -> Any:
    """Spark gives times without their zone, in that of this machine."""
    return value.astimezone(UTC) if isinstance(value, datetime) else value


def evidence(columns: Mapping[str, Any]) -> str:
    """A row as JSON; what JSON has no number for is null."""
    return json.dumps({name: _plain(value) for name, value in columns.items()}, ensure_ascii=False, default=_text)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _text(value: Any) -> str:
    """What JSON has no type for: times and decimals."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return value.isoformat() if isinstance(value, date) else str(value)


def line(error: Exception) -> str:
    """The first line of an error; Spark's goes on with the query and a stack."""
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    if isinstance(error, KeyError):
        return f"its words name {text}, which its query does not return"
    return text if isinstance(error, PySparkException | ValueError) else f"{type(error).__name__}: {text}"
