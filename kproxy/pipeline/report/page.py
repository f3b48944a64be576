"""The page: one file of HTML, with its style and its charts inside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from kproxy.pipeline.findings.rule import Severity
from kproxy.pipeline.findings.window import Window
from kproxy.pipeline.report.charts.figure import Figure, Table
from kproxy.pipeline.report.charts.numbers import duration
from kproxy.pipeline.report.charts.scales import Times
from kproxy.pipeline.report.content import Content
from kproxy.pipeline.report.parts import clients, findings, speed, troubles
from kproxy.pipeline.report.parts.part import Part
from kproxy.pipeline.report.sections.shapes import Listing, OverTime, Unanswered
from kproxy.pipeline.report.words import moment, shown

_TEMPLATES: Final = Environment(
    loader=PackageLoader("kproxy.pipeline.report"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.tests |= {"figure": lambda block: isinstance(block, Figure), "table": lambda block: isinstance(block, Table)}
_TEMPLATES.filters |= {"moment": moment, "shown": shown}
_LATE: Final = 0.05
"""The part of the window that may be without data at its end, before the page says so."""
_LATE_LEAST: Final = timedelta(minutes=15)


def page(content: Content) -> str:
    """Return the report as HTML; it asks the network for nothing."""
    text: str = _TEMPLATES.get_template("page.html").render(
        content=content,
        verdict=verdict(content),
        notices=notices(content),
        totals=totals(content),
        counts=findings.counts(content.findings),
        groups=findings.groups(content.findings, content.help),
        headlines=findings.HEADLINES,
        parts=() if content.empty else parts(content),
    )
    return text


def parts(content: Content) -> tuple[Part, ...]:
    """Return everything below the findings."""
    times = Times(content.window.since, content.window.until)
    sections = content.sections
    return (
        clients.fleet(sections, times),
        speed.latency(sections, times),
        speed.throughput(sections, times),
        troubles.rebalances(sections, times),
        troubles.errors(sections, times),
        clients.rebootstrap(sections),
        clients.churn(sections),
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to know at first sight."""

    severity: Severity | str
    """Or "none": nothing was found; or "unknown": there is nothing to judge."""
    text: str


def verdict(content: Content) -> Verdict:
    """Return whether something is wrong."""
    if content.empty:
        return Verdict("unknown", "There is no data of this time")
    counts = findings.counts(content.findings)
    texts = {"critical": "Something is wrong", "warning": "There are warnings", "info": "Nothing is urgent"}
    worst = next((severity for severity, count in counts.items() if count), None)
    return Verdict("none", "Nothing was found") if worst is None else Verdict(worst, texts[worst])


def notices(content: Content) -> tuple[str, ...]:
    """Return what is to be known of the data itself."""
    window, coverage = content.window, content.coverage
    said = [f"{shown(line, 300)}; the other rules were applied." for line in content.broken]
    if coverage.first is None or coverage.last is None:
        return (*said, "The tables are empty: kproxy pipeline run fills them.")
    if content.empty:
        there = f"The tables have data from {moment(coverage.first)} to {moment(coverage.last)} UTC."
        end = coverage.last + timedelta(minutes=1)
        return (*said, there, f"Ask with --until {end:%Y-%m-%dT%H:%MZ} for the last of it.")
    said += _late(window, "event", coverage.last_event)
    said += _late(window, "push", coverage.last_push)
    if coverage.first - window.since > _LATE_LEAST:
        said.append(f"The oldest data is of {moment(coverage.first)} UTC.")
    return tuple(said)


def _late(window: Window, what: str, last: datetime | None) -> Iterator[str]:
    late = timedelta() if last is None else window.until - last
    if late > max(_LATE_LEAST, _LATE * (window.until - window.since)):
        yield f"The newest {what} is of {moment(last)} UTC, {duration(late)} before the end of this time."


def totals(content: Content) -> tuple[tuple[str, str], ...]:
    """Return a few numbers by their names."""
    sections = content.sections
    lifetimes = None if isinstance(sections.lifetimes, Unanswered) else sections.lifetimes
    groups = sections.groups if isinstance(sections.groups, Listing) else None
    errors = sections.errors if isinstance(sections.errors, OverTime) else None
    return (
        ("clients", f"{content.clients:,}"),
        ("data points", f"{content.points:,}"),
        ("connections opened", "–" if lifetimes is None else f"{lifetimes.opened:,}"),
        ("groups that rebalanced", "–" if groups is None else f"{groups.total:,}"),
        ("errors", "–" if errors is None else f"{_sum(errors):,.0f}"),
        ("newest data (UTC)", _newest(content.coverage.last)),
    )


def _sum(values: OverTime) -> float:
    return sum(value or 0 for one in values.series for value in one.values)


def _newest(time: datetime | None) -> str:
    return "none" if time is None else f"{time:%H:%M}, {time.day} {time:%b}"
