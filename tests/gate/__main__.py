"""The gate: runs its stages, each to its end, then what failed twice more, alone; prints a table and one verdict.

`python -m tests.gate`, from a checkout that `make setup` has prepared. Exit code 0 is a pass, and leaves a mark by the
hash of HEAD's tree in ${XDG_CACHE_HOME:-~/.cache}/kproxy/gate. What failed once and passed twice alone is flaky, and is
named in the table. Unit tests without sockets, coverage, a stage without pytest, and a file that cannot be collected
get no second chance.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread
from typing import Final

from tests.gate.stage import ROOT, Stage
from tests.gate.verdict import FLAKY_MOST, Again, Result, lines, table

BUILD: Final = ROOT / "build" / "gate"
CORE: Final = ("-m", "not long")
QUICK: Final = ("tests/property", "tests/bench", "tests/fuzz", "tests/soak/test_verdict.py", "tests/interruptions")
# Rooms whose unit tests open sockets and wait; in any other a test that fails once is proof of a fault.
SOCKETS: Final = tuple(f"tests/unit/{room}/" for room in ("admin", "app", "cluster", "local_kafka", "upstream"))
# Two lanes for two processors: the first computes, the second mostly waits for Kafka.
LANES: Final = (
    (
        Stage("unit", pytest=("tests/unit",), again=SOCKETS, coverage=True),
        Stage("coverage", command=("-m", "tests.support.pure_coverage", "build/gate/reached.json")),
        Stage("quick", pytest=QUICK),
    ),
    (
        Stage("real", pytest=("tests/clients", "tests/faults", *CORE)),
        Stage("groups", pytest=("tests/groups", *CORE)),
        Stage("demo", command=("-m", "kproxy", "demo")),
    ),
)


def main() -> int:
    """Run all; return the exit code."""
    BUILD.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    results: list[Result] = []
    threads = [Thread(target=_lane, args=(lane, results)) for lane in LANES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _again(results)
    seconds = round(time.monotonic() - began)
    print(table(results), flush=True)
    if not all(result.passed for result in results):
        print(f"the gate is red, {seconds} s")
        return 1
    _mark(seconds)
    print(f"the gate is green, {seconds} s")
    return 0


def _lane(stages: tuple[Stage, ...], results: list[Result]) -> None:
    for stage in stages:
        print(f"== {stage.name}", flush=True)
        result = stage.run(BUILD)
        results.append(result)
        print(f"== {stage.name}: {result.summary}", flush=True)
        if not result.passed:
            print(lines(result), result.tail, sep="\n", flush=True)


def _again(results: list[Result]) -> None:
    """Run what failed alone, when everything else has ended; many failures are no accident."""
    failed = [(result, nodeid) for result in results for nodeid in result.may_run_again]
    if len(failed) > FLAKY_MOST:
        return
    for result, nodeid in failed:
        runs = [
            Stage(f"again-{turn}", pytest=(nodeid,)).run(BUILD, f"{result.name}-{len(result.again)}") for turn in (1, 2)
        ]
        result.again.append(Again(nodeid, result.failed[nodeid], all(run.passed for run in runs)))
        print(f"== again, alone: {nodeid}: {[run.summary for run in runs]}", flush=True)


def _mark(seconds: int) -> None:
    """Leave the mark of a passed run, by what was tested; a checkout with changes of its own is no commit's."""
    git = ("git", "-C", str(ROOT))
    if subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=True).stdout:
        print("no mark: this checkout has changes that are not committed")
        return
    tree = subprocess.run([*git, "rev-parse", "HEAD^{tree}"], capture_output=True, text=True, check=True).stdout.strip()
    kept = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kproxy" / "gate"
    kept.mkdir(parents=True, exist_ok=True)
    (kept / tree).write_text(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {seconds} s\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
