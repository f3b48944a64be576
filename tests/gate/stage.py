"""One stage: a command, or a run of pytest, in a process of its own, with a log and reports."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from kproxy.local_kafka.ports import SHARE
from tests.gate.verdict import Failure, Result
from tests.support.bounds import MEASURED

ROOT: Final = Path(__file__).parents[2]
TOOLS: Final = "KPROXY_TOOLS"  # where deploy/tools/install puts what it builds
_LOOK: Final = 10.0
"""Seconds between two looks at the load."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What is run: `pytest`, its arguments, or `command`. In both, {reports} is the file of the reports."""

    name: str
    pytest: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    python: str = sys.executable
    again: tuple[str, ...] = ("tests/",)
    """Where the names of tests begin that have a second chance, alone."""
    once: tuple[str, ...] = ()
    """Where the names begin of those among them that have none all the same."""
    least: int = 0
    """So many tests run, or the stage has failed: a file that is lost, or a filter that leaves out too much, shows."""
    skips: tuple[str, ...] = ()
    """Where the names of tests begin that may be skipped."""
    leaves: tuple[str, ...] = ()
    """How the names begin of what its run may leave at its end (`leaks`)."""
    coverage: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    limit: float = 2400
    """Seconds; a stage that takes longer is ended and has failed."""

    @property
    def measures(self) -> bool:
        """Whether its tests assert bounds on time, CPU and memory, which the gate only notes."""
        return self.environment.get(MEASURED) == "1"

    def of(self, name: str, nodeid: str) -> Stage:
        """Return a stage of one of its tests."""
        return replace(self, name=name, pytest=(nodeid,), least=0, coverage=False)

    def run(self, build: Path, prefix: str = "", ports: str = "1/1") -> Result:
        """Run it to its end; files of the run are in `build`.

        `ports` is its share of those that tests choose from (kproxy/local_kafka/ports.py).
        """
        stem = f"{prefix}-{self.name}" if prefix else self.name
        log, reports = build / f"{stem}.log", build / f"{stem}.jsonl"
        reports.unlink(missing_ok=True)
        began = time.monotonic()
        with log.open("wb") as output:
            code, load = self._process(output.fileno(), self._arguments(build, reports), ports)
        told = [json.loads(line) for line in reports.read_text().splitlines()] if reports.exists() else []
        result = Result(self.name, time.monotonic() - began, load, log.read_text(errors="replace")[-6000:])
        self._judge(result, code, told)
        return result

    def _arguments(self, build: Path, reports: Path) -> list[str]:
        if not self.pytest:
            return [part.replace("{reports}", str(reports)) for part in self.command]
        out = str(build / f"reached-{self.name}.json")
        probes = ["-m", "slipcover", "--branch", "--source", "kproxy", "--json", "--out", out]
        plugin = ["-m", "pytest", "-p", "no:cacheprovider", "-p", "tests.gate.reports", "--gate-reports", str(reports)]
        quiet = ["-q", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
        watched = [*probes, *plugin, *quiet] if self.coverage else [*plugin, "-q"]
        return [self.python, *watched, *self.pytest]

    def _process(self, output: int, command: Sequence[str], ports: str) -> tuple[int | None, float]:
        """Return its exit code, None where it was ended at its limit, and the load meanwhile, at the mean."""
        environment = {**_environment(), SHARE: ports, **self.environment}
        ends, loads = time.monotonic() + self.limit, []
        with subprocess.Popen(
            command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, cwd=ROOT, env=environment, process_group=0
        ) as process:
            while process.poll() is None and (left := ends - time.monotonic()) > 0:
                loads.append(os.getloadavg()[0])
                try:
                    process.wait(min(_LOOK, left))
                except subprocess.TimeoutExpired:
                    continue
            code = process.poll()
            if code is None:
                os.killpg(process.pid, signal.SIGKILL)
        return code, sum(loads) / max(1, len(loads))

    def _judge(self, result: Result, code: int | None, told: Sequence[Mapping[str, Any]]) -> None:
        skipped = []
        for line in told:
            if line.get("outcome") == "passed":
                result.passed_tests += 1
            elif line.get("outcome") == "skipped":
                skipped.append(line["nodeid"])
            elif line.get("outcome") == "failed":
                result.failed[line["nodeid"]] = Failure(
                    line["message"], line["when"], line["violation"], line.get("measured", False)
                )
        result.skipped = len(skipped)
        result.broken = self._broken(result, code, told[-1] if told else {}, skipped)
        if not result.broken:
            result.may_run_again = [
                nodeid
                for nodeid, why in result.failed.items()
                if nodeid.startswith(self.again) and not nodeid.startswith(self.once) and not why.violation
            ]

    def _broken(self, result: Result, code: int | None, last: Mapping[str, Any], skipped: Sequence[str]) -> str:
        """Say why the stage has failed, whatever its tests say; empty where it has not."""
        if code is None:
            return "ended at its limit"
        # pytest's exit code 1 with tests that failed is the verdict on these; whatever else is not 0 is a break.
        whole = bool(self.pytest) and code == 1 and bool(result.failed) and last.get("exit") == 1
        if code != 0 and not whole:
            return f"exit code {code}"
        ran = result.passed_tests + len(result.failed)
        if ran < max(self.least, bool(self.pytest)):
            return f"{ran} tests ran, at least {self.least} must" if ran else "no test ran"
        if unknown := [nodeid for nodeid in skipped if not self.skips or not nodeid.startswith(self.skips)]:
            return f"{len(unknown)} skipped that must not be: {unknown[0]}"
        left = [name for name in last.get("left", ()) if not self.leaves or not name.startswith(self.leaves)]
        return f"left at its end: {', '.join(left)}" if left else ""


def _environment() -> dict[str, str]:
    """Leave out what a shell or a CI system sets: kproxy reads its settings there, and pytest prints more."""
    own = {"CI", "BUILD_NUMBER", "PYTEST_ADDOPTS", "MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL"}
    return {
        key: value
        for key, value in os.environ.items()
        if key == TOOLS or (key not in own and not key.startswith("KPROXY_"))
    }
