"""Runs the sample from start to end: the day, the tables, the rules, the report, and the verdict.

`kproxy pipeline demo` calls `play` once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from kproxy.demo.children import Stopped, stopped_by_signals
from kproxy.demo.fleet import summary
from kproxy.demo.fleet.day import Day, day
from kproxy.demo.fleet.place import Place
from kproxy.demo.fleet.stages import Stages, stages
from kproxy.demo.fleet.verdict import judge
from kproxy.demo.fleet.writing import write_events, write_pushes
from kproxy.demo.screen import console
from kproxy.pipeline import run, session
from kproxy.pipeline.errors import PipelineError
from kproxy.pipeline.report.command import Report, report

CLUSTER: Final = "shop"
FAILED: Final = 1
_BY_SIGNAL: Final = 128
_EVENTS_PART: Final = 0.2
"""Of the time that the day takes to make."""


def play(out: Path, seed: int, clients: int, master: str | None) -> int:
    """Run the sample; return the exit code. Raises `PipelineError`."""
    output = console()
    try:
        with stopped_by_signals():
            return _play(output, Place(out), seed, clients, master)
    except Stopped as stopped:
        output.print(f"stopped by {stopped.number.name}")
        return _BY_SIGNAL + stopped.number


def _play(output: Console, place: Place, seed: int, clients: int, master: str | None) -> int:
    session.check_java()
    place.clear()
    output.print(Text.assemble("The report will be ", (str(place.report), "cyan")))
    date_ = datetime.now(UTC).date() - timedelta(days=1)
    begin, until = _midnight(date_), _midnight(date_ + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    made = day(seed, CLUSTER, begin.timestamp(), clients)
    with stages(output) as view:
        events, pushes = _write(made, place, view, master)
        _tables(place, view, master)
        view.begin("rules and report")
        found = report(str(place.tables), "24h", until, master)
        place.report.write_text(found.page(), encoding="utf-8")
    done = _done(made, place, until, (pushes, events), view.took, found)
    summary.show(output, done)
    return 0 if done.verdict.perfect and not done.broken else FAILED


def _midnight(date_: date) -> datetime:
    return datetime.combine(date_, time(), UTC)


def _write(made: Day, place: Place, view: Stages, master: str | None) -> tuple[int, int]:
    """Write the day, while Spark starts."""
    view.begin("making the day")
    starting = _Starting(master)
    try:
        events = write_events(made, place.input, lambda part: view.part(part * _EVENTS_PART))
        pushes = write_pushes(made, place.input, lambda part: view.part(_EVENTS_PART + part * (1 - _EVENTS_PART)))
    except OSError as error:
        raise PipelineError(f"out {place.root}: {error.strerror or error}") from error
    starting.wait()
    return events, pushes


class _Starting:
    """Starts the session of Spark in a thread, which the end of this process does not wait for."""

    def __init__(self, master: str | None) -> None:
        self._master = master
        self._problem: Exception | None = None
        self._thread = threading.Thread(target=self._start, daemon=True)
        self._thread.start()

    def _start(self) -> None:
        try:
            session.start("kproxy pipeline demo", self._master)
        except Exception as error:
            self._problem = error

    def wait(self) -> None:
        """Wait for the session; raises what the start raised."""
        self._thread.join()
        if self._problem is not None:
            raise self._problem


def _tables(place: Place, view: Stages, master: str | None) -> None:
    """Run the job: the files fit into one batch, and then the other tables follow."""
    view.begin("reading it")
    run.run([f"files:{place.input}"], str(place.tables), "available-now", master, _batch_done(view))


def _batch_done(view: Stages) -> Callable[[str], None]:
    def done(_: str) -> None:
        view.begin("deriving tables")

    return done


def _done(
    made: Day, place: Place, until: str, written: tuple[int, int], took: dict[str, float], found: Report
) -> summary.Done:
    pushes, events = written
    result = found.findings
    verdict = judge(made.planted, result.findings, made.fleet.cluster)
    broken = tuple(map(str, result.broken))
    return summary.Done(made, place, until, pushes, events, result.points, took, verdict, broken)
