"""What `kproxy pipeline demo` says at its end."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from kproxy.demo.fleet.day import Day
from kproxy.demo.fleet.place import Place
from kproxy.demo.fleet.troubles import Planted
from kproxy.demo.fleet.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Done:
    """A sample that has run."""

    day: Day
    place: Place
    until: str
    pushes: int
    events: int
    points: int
    took: dict[str, float]
    verdict: Verdict
    broken: tuple[str, ...]
    """Rules that failed, and why."""


def show(console: Console, done: Done) -> None:
    """Print the summary."""
    console.print()
    for title, value in _rows(done):
        console.print(Text.assemble((f"{title:<10}", "dim"), value))
    console.print()
    for planted in done.verdict.planted:
        console.print(_mark(done.verdict.has(planted), _found(planted)))
    for finding in done.verdict.false_alarms:
        console.print(_mark(False, f"false alarm: {finding.rule} of {finding.subject}: {finding.reason}"))
    for problem in done.broken:
        console.print(_mark(False, problem))
    console.print()
    console.print(Text.assemble(("→ ", "dim"), (str(done.place.report), "cyan")))
    console.print("\nTry:\n")
    for what, command in tries(done):
        console.print(Text(f"# {what}", "dim"))
        console.print(Text(command), soft_wrap=True)


def _rows(done: Done) -> Iterator[tuple[str, str]]:
    fleet, verdict = done.day.fleet, done.verdict
    instances = sum(len(client.instances) for client in fleet.clients)
    yield "clients", f"{len(fleet.clients)}, in {instances} instances and {len(fleet.groups)} groups"
    yield "points", f"{done.points:,} in {done.pushes:,} pushes, and {done.events:,} events"
    stages = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in done.took.items())
    yield "took", f"{sum(done.took.values()):.0f} s: {stages}"
    complete = sum(verdict.has(planted) for planted in verdict.planted)
    yield "troubles", f"{complete} of {len(verdict.planted)} found, by {verdict.found} of {verdict.expected} findings"
    yield "verdict", f"precision {verdict.precision:.3f}, recall {verdict.recall:.3f}"


def _found(planted: Planted) -> str:
    rules = dict.fromkeys(rule for rule, _ in planted.expected)
    return f"{planted.what} ({', '.join(rules)})"


def _mark(good: bool, text: str) -> Text:
    return Text.assemble(("✓ ", "bold green") if good else ("✗ ", "bold red"), (text, "" if good else "bold red"))


def tries(done: Done) -> Iterator[tuple[str, str]]:
    """Yield commands to try, each after its description."""
    tables = shlex.quote(str(done.place.tables))
    when = f"--since 24h --until {done.until}"
    yield "what was found, with its evidence", f"kproxy pipeline findings --tables {tables} {when} --format json"
    yield "the evening only", f"kproxy pipeline report --tables {tables} --since 6h --until {done.until}"
    yield "each rule, and what it needs", "kproxy pipeline rules"
    query = f"SELECT rule, subject, reason FROM delta_scan('{done.place.tables}/findings') WHERE severity = 'critical'"
    yield "the tables in DuckDB", f'duckdb -c "{query}"'
