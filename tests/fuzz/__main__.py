"""`python -m tests.fuzz`: fuzzes all targets, or one, and prints what was done and what was found.

Each target runs in a process of its own. The exit code is 1 where something was found.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.fuzz.targets import IN_PROCESS, LIVING

OUT: Final = Path("build/fuzz")
TARGETS: Final = (*IN_PROCESS, LIVING)
SHARES: Final = {"frames": 0.92, "otlp": 0.005, "http": 0.03, "config": 0.03, "state": 0.01, LIVING: 0.005}
"""Of all inputs: the faster a target is, the more. On a core, frames does 1,500 inputs/s, http 100, otlp 25."""
_AT_ONCE: Final = 2


@dataclass
class Outcome:
    """What a worker has said last; `code` is its exit code, and `artifacts` are what libFuzzer itself wrote."""

    target: str
    inputs: int = 0
    seconds: float = 0.0
    findings: dict[str, int] = field(default_factory=dict)
    code: int = 0
    artifacts: tuple[str, ...] = ()

    @property
    def well(self) -> bool:
        """True when nothing was found, and the worker ended as it should."""
        return not self.findings and not self.artifacts and self.code == 0


def fuzz(target: str, inputs: int, seconds: float, out: Path = OUT) -> Outcome:
    """Run a worker to its end."""
    out.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.fuzz.worker", target, "--inputs", str(inputs), "--seconds", str(seconds)]
    outcome, begun = Outcome(target), time.time()
    with (out / f"{target}.log").open("wb") as log:
        worker = subprocess.Popen([*command, "--out", str(out)], stdout=subprocess.PIPE, stderr=log, text=True)
        assert worker.stdout is not None
        for line in worker.stdout:
            said = json.loads(line)
            outcome.inputs, outcome.seconds, outcome.findings = said["inputs"], said["seconds"], said["findings"]
            print(_progress(outcome), end="\r", file=sys.stderr, flush=True)
        outcome.code = worker.wait()
    outcome.artifacts = tuple(_artifacts(out / "findings", target, begun))
    return outcome


def _artifacts(directory: Path, target: str, begun: float) -> Iterator[str]:
    """Yield what libFuzzer wrote when an input crashed or hung the worker."""
    for file in sorted(directory.glob(f"{target}-*")):
        if file.is_file() and file.stat().st_mtime >= begun:
            yield file.name


def _progress(one: Outcome) -> str:
    return f"{one.target:8} {one.inputs:>11,} inputs {one.seconds:>8.0f} s  {len(one.findings)} findings   "


def table(outcomes: Sequence[Outcome]) -> str:
    """Return a line for each target and each of its findings, and the sum."""
    lines = []
    for one in outcomes:
        lines.append(
            _progress(one).rstrip() + ("" if one.code == 0 else f"  exit code {one.code}: see {one.target}.log")
        )
        lines += [f"    {count:>6} x {name}" for name, count in sorted(one.findings.items())]
        lines += [f"    libFuzzer: {name}" for name in one.artifacts]
    return "\n".join([*lines, f"all      {sum(one.inputs for one in outcomes):>11,} inputs"])


def main() -> int:
    """Parse the arguments, fuzz, print the table."""
    parser = argparse.ArgumentParser(prog="tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000, help="inputs of all targets together [100000]")
    parser.add_argument("--seconds", type=float, default=1e9, help="seconds for each target, at most [no limit]")
    parser.add_argument("--target", choices=[*TARGETS, "all"], default="all")
    given = parser.parse_args()
    if given.target == "all":
        wanted = {target: max(1, round(given.inputs * SHARES[target])) for target in TARGETS}
    else:
        wanted = {given.target: given.inputs}
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        running = [threads.submit(fuzz, target, inputs, given.seconds) for target, inputs in wanted.items()]
        outcomes = [one.result() for one in running]
    print(table(outcomes))
    print(f"findings: {OUT}/findings/TARGET/*.bin, with a traceback beside each")
    return 0 if all(one.well for one in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
