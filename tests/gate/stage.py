"""One stage: a command, or a run of pytest, in a process of its own, with a log and reports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.gate.verdict import Result

ROOT: Final = Path(__file__).parents[2]
TOOLS: Final = "KPROXY_TOOLS"  # where deploy/tools/install puts what it builds


@dataclass(frozen=True, slots=True)
class Stage:
    """What is run: `pytest`, its arguments, or `command`, those of Python."""

    name: str
    pytest: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    again: tuple[str, ...] = ("tests/",)
    """Where the names of tests begin that have a second chance, alone."""
    coverage: bool = False
    limit: float = 2400
    """Seconds; a stage that takes longer is ended and has failed."""

    def run(self, build: Path, prefix: str = "") -> Result:
        """Run it to its end; files of the run are in `build`."""
        stem = f"{prefix}-{self.name}" if prefix else self.name
        log, reports = build / f"{stem}.log", build / f"{stem}.jsonl"
        reports.unlink(missing_ok=True)
        began = time.monotonic()
        code = self._process(log, [sys.executable, *self._arguments(build, reports)])
        told = [json.loads(line) for line in reports.read_text().splitlines()] if reports.exists() else []
        return self._result(code, told, time.monotonic() - began, log.read_text(errors="replace"))

    def _arguments(self, build: Path, reports: Path) -> list[str]:
        if not self.pytest:
            return [*self.command]
        probes = ["-m", "slipcover", "--branch", "--source", "kproxy", "--json", "--out", str(build / "reached.json")]
        plugin = ["-m", "pytest", "-p", "no:cacheprovider", "-p", "tests.gate.reports", "--gate-reports", str(reports)]
        quiet = ["-q", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
        return [*(probes if self.coverage else []), *plugin, *(quiet if self.coverage else ["-q"]), *self.pytest]

    def _process(self, log: Path, command: list[str]) -> int | None:
        """Return its exit code; None where it was ended at its limit."""
        environment = _environment()
        with log.open("wb") as output:
            try:
                ended = subprocess.run(
                    command,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=ROOT,
                    env=environment,
                    timeout=self.limit,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return None
        return ended.returncode

    def _result(self, code: int | None, told: list[dict[str, Any]], seconds: float, output: str) -> Result:
        result = Result(self.name, seconds, output[-6000:])
        for line in told:
            if line.get("outcome") == "passed":
                result.passed_tests += 1
            elif line.get("outcome") == "skipped":
                result.skipped += 1
            elif line.get("outcome") == "failed":
                result.failed[line["nodeid"]] = line["message"]
        # Tests that failed are one reason of exit code 1; every other code, and 1 without such a test, is a break.
        whole = bool(self.pytest) and code == 1 and bool(result.failed) and told[-1].get("exit") == 1
        if code != 0 and not whole:
            result.broken = "ended at its limit" if code is None else f"exit code {code}"
        elif self.pytest and not result.passed_tests and not result.failed:
            result.broken = "no test ran"
        if not result.broken:
            result.may_run_again = [nodeid for nodeid in result.failed if nodeid.startswith(self.again)]
        return result


def _environment() -> dict[str, str]:
    """Leave out what a shell or a CI system sets: kproxy reads its settings there, and pytest prints more."""
    own = {"CI", "BUILD_NUMBER"}
    return {
        key: value
        for key, value in os.environ.items()
        if key == TOOLS or (key not in own and not key.startswith("KPROXY_"))
    }
