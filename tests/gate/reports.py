"""A pytest plugin that writes one JSON line for each test that ended: what the gate knows of a run, also if it crashed.

`pytest -p tests.gate.reports --gate-reports FILE`. A line has nodeid, outcome (passed, failed, skipped) and seconds. A
test with `bounds` has measured (true) and figures ({what: [the largest, its bound]}). One that did not pass has when
(setup, call, teardown), message (one line) and violation (whether it raised `Violation`). A file that cannot be
collected has a line with outcome "uncollected". The last line of a run that came to its end is {"exit": pytest's exit
code, "left": [what nobody has ended]}.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

import pytest

from tests.gate.leaks import left
from tests.support.violation import Violation


def pytest_addoption(parser: pytest.Parser) -> None:
    """Name the file."""
    parser.addoption("--gate-reports", metavar="FILE", help="write a JSON line for each test into FILE")


def pytest_configure(config: pytest.Config) -> None:
    """Write where a file was named; a worker of pytest-xdist tells its reports to the run that started it."""
    path = config.getoption("--gate-reports")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reports(Path(path)), "gate-reports")


class Reports:
    """What ended, line by line."""

    def __init__(self, path: Path) -> None:
        """Begin an empty file."""
        self._file: IO[str] = path.open("w", encoding="utf-8", buffering=1)
        self._seconds: dict[str, float] = {}
        self._worst: dict[str, dict[str, Any]] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Write what cannot be collected."""
        if report.failed:
            self._write({"nodeid": report.nodeid, "outcome": "uncollected", "message": _message(report)})

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """Note whether a test raised `Violation`, also where something else came of it."""
        report = yield
        report.violation = call.excinfo is not None and any(
            isinstance(error, Violation) for error in _errors(call.excinfo.value, set())
        )
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the worst of set-up, call and tear-down; write it when the test has ended."""
        nodeid = report.nodeid
        self._seconds[nodeid] = self._seconds.get(nodeid, 0.0) + report.duration
        worst = self._worst.get(nodeid, {})
        if report.outcome != "passed" and worst.get("outcome") != "failed":
            worst |= {"outcome": report.outcome, "when": report.when, "message": _message(report)}
        if report.outcome != "passed":
            violation = getattr(report, "violation", False) or worst.get("violation", False)
            self._worst[nodeid] = worst | {"violation": violation}
        if report.when == "teardown":
            seconds = round(self._seconds.pop(nodeid), 3)
            line = {"nodeid": nodeid, "outcome": "passed", "seconds": seconds, **_measured(report)}
            self._write(line | self._worst.pop(nodeid, {}))

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Say that the run came to its end."""
        self._write({"exit": int(exitstatus), "left": left()})
        self._file.close()

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")


def _measured(report: pytest.TestReport) -> dict[str, Any]:
    """Return the worst of each figure with its bound, where a test has bounds."""
    if "measured" not in report.keywords:
        return {}
    noted: Any = report.user_properties
    # Of a test that looks ten times, the last one is the largest.
    return {"measured": True, "figures": dict(sorted(noted, key=itemgetter(1)))}


def _errors(error: BaseException | None, seen: set[int]) -> Iterator[BaseException]:
    """Yield an error, those that it groups, and those that it came from."""
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    yield error
    grouped = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    for one in (*grouped, error.__cause__, error.__context__):
        yield from _errors(one, seen)


def _message(report: pytest.TestReport | pytest.CollectReport) -> str:
    """What a person sees first: the last line that pytest marks as the error, or the reason of a skip."""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    lines = report.longreprtext.splitlines()
    errors = [line.strip(" |E").strip() for line in lines if line.lstrip(" |").startswith("E ")]
    return (errors or lines or [""])[0][:300]
