"""Asks the tables for everything that a report says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final

from pyspark.errors import PySparkException

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.findings import queries
from kproxy.pipeline.findings.evaluate import in_utc, line
from kproxy.pipeline.findings.window import Window
from kproxy.pipeline.report import timeline
from kproxy.pipeline.report.content import Sections
from kproxy.pipeline.report.sections import (
    churn,
    coverage,
    errors,
    fleet,
    latency,
    rebalances,
    rebootstrap,
    throughput,
)
from kproxy.pipeline.report.sections.coverage import Coverage
from kproxy.pipeline.report.sections.shapes import Question, Row, Scope, Unanswered

_AT_ONCE: Final = 4
"""Spark plans a query on one core, while others run."""


def read(output: Output, window: Window) -> tuple[Coverage, Sections]:
    """Ask all questions, several at once; one that a table is missing for stays unanswered."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        there = {table.name for table, has in zip(_ALL, pool.map(output.has, _ALL), strict=True) if has}
        reader = _Reader(output, frozenset(there), Scope(*_timelines(window), None, None))
        covered = coverage.coverage(*pool.map(reader.rows_or_none, (coverage.EVENTS, coverage.PUSHES)))
        reader = replace(
            reader, scope=replace(reader.scope, last_event=covered.last_event, last_push=covered.last_push)
        )
        asked = {name: pool.submit(reader.answer, question) for name, question in _questions(reader.scope).items()}
        return covered, Sections(**{name: future.result() for name, future in asked.items()})


_ALL: Final = tuple(tables.TABLES.values())


def _timelines(window: Window) -> tuple[timeline.Timeline, timeline.Timeline]:
    return timeline.fine(window.since, window.until), timeline.hourly(window.since, window.until)


def _questions(scope: Scope) -> Mapping[str, Question[Any]]:
    """The questions by the names of `Sections`."""
    step = scope.fine.step
    return {
        "fleet": fleet.OVER_TIME,
        "versions": fleet.VERSIONS,
        "latency": latency.over_time(step),
        "slowest": latency.SLOWEST,
        "passed": throughput.PASSED,
        "records": throughput.records(step),
        "busiest": throughput.BUSIEST,
        "groups": rebalances.GROUPS,
        "rebalances": rebalances.spells(scope.fine.since, scope.fine.until),
        "errors": errors.OVER_TIME,
        "most_errors": errors.MOST,
        "abilities": rebootstrap.ABILITIES,
        "cannot_rebootstrap": rebootstrap.CANNOT,
        "lifetimes": churn.LIFETIMES,
        "churners": churn.CHURNERS,
    }


@dataclass(frozen=True, slots=True)
class _Reader:
    output: Output
    there: frozenset[str]
    """The tables that are there."""
    scope: Scope

    def answer(self, question: Question[Any]) -> Any:
        """Return what a question's rows are made into, or `Unanswered`."""
        if missing := self._missing(question.query):
            return Unanswered(f"There is no table {missing[0]}: kproxy pipeline run makes it")
        try:
            return question.make(self._rows(question.query), self.scope)
        except PySparkException as error:
            return Unanswered(f"The query fails: {line(error)}")

    def rows_or_none(self, query: str) -> Sequence[Row]:
        """Return the rows of a query, none when its table is missing."""
        return [] if self._missing(query) else self._rows(query)

    def _missing(self, query: str) -> list[str]:
        return [name for name in queries.tables(query) if name not in self.there]

    def _rows(self, query: str) -> Sequence[Row]:
        frame = self.output.session.sql(queries.runnable(query, self.scope.values, self.output.path))
        return [{name: _finite(in_utc(value)) for name, value in row.asDict().items()} for row in frame.collect()]


def _finite(value: Any) -> Any:
    """Clients push any number, and sums of the largest are infinite: there is no place for these on an axis."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
