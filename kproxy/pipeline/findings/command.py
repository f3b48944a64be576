"""`kproxy pipeline findings`: from what the user wrote to findings in their order, and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from kproxy.pipeline import session, streams, tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.findings import evaluate, installed, queries, sql, window
from kproxy.pipeline.findings.evaluate import Broken
from kproxy.pipeline.findings.finding import Finding
from kproxy.pipeline.findings.rule import Rule
from kproxy.pipeline.findings.window import Window

_LOOKED_AT = f"""
SELECT
  (SELECT count(DISTINCT struct(cluster, client_id)) FROM clients WHERE last_seen >= :since AND first_seen < :until),
  (SELECT count(*) FROM points WHERE {sql.within("received_at")})
"""


@dataclass(frozen=True, slots=True)
class Result:
    """What was found, the worst first, and the rules that could not be applied."""

    window: Window
    findings: Sequence[Finding]
    broken: Sequence[Broken]
    clients: int
    points: int

    @property
    def nothing(self) -> str:
        """The line to print when nothing was found."""
        return f"no findings in the {self.window.name} ({self.clients:,} clients, {self.points:,} points looked at)"


def find(place: str, since: str, until: str | None, only: Sequence[str], master: str | None) -> Result:
    """Apply the rules to the tables at `place`, and append what they find to `findings`; raises `PipelineError`."""
    looked_at = window.parse(since, until, datetime.now(UTC))
    rules = installed.rules(only)
    return apply(opened(place, "kproxy pipeline findings", master), rules, looked_at)


def opened(place: str, name: str, master: str | None) -> Output:
    """Return the tables at `place`, with a Spark session of this name; raises `PipelineError` when there are none."""
    output = Output(session.start(name, master), streams.place(place))
    output.require((tables.PUSHES, tables.POINTS, tables.CLIENTS))
    return output


def apply(output: Output, rules: Sequence[Rule], looked_at: Window) -> Result:
    """Apply rules to tables, and append what they find to `findings`."""
    results = list(evaluate.evaluate(output, rules, looked_at, datetime.now(UTC)))
    found = sorted((each for each in results if isinstance(each, Finding)), key=lambda each: each.order)
    evaluate.store(output, found)
    broken = [each for each in results if isinstance(each, Broken)]
    return Result(looked_at, found, broken, *_looked_at(output, looked_at))


def _looked_at(output: Output, looked_at: Window) -> tuple[int, int]:
    values: dict[str, queries.Value] = {"since": looked_at.since, "until": looked_at.until}
    row = output.session.sql(queries.runnable(_LOOKED_AT, values, output.path)).collect()[0]
    return int(row[0]), int(row[1])
