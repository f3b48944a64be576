"""The gate: runs its stages, each to its end, then what failed twice more, alone; prints a table and one verdict.

`python -m tests.gate [STAGE]...`, from a checkout that `make setup` has prepared; without a name, all. Exit code 0 is a
pass, 1 is none, 2 means that a tool cannot be had. docs/maintainers/testing.md has the rules.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from tests.gate import flaky, mark, prepare
from tests.gate.changed import thrice
from tests.gate.stage import ROOT, Stage
from tests.gate.stages import Phase, chosen
from tests.gate.verdict import FLAKY_MOST, Again, Result, lines, table

BUILD: Final = ROOT / "build" / "gate"


def main(names: frozenset[str]) -> int:
    """Run the stages of these names; return the exit code."""
    phases = chosen(names)
    BUILD.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    if missing := prepare.prepare({stage.name for phase in phases for stage in phase}):
        print(f"cannot run: {missing}")
        return 2
    results = thrice(BUILD) if names == {"all"} else []
    for phase in phases:
        results.extend(_side_by_side(phase))
    _again(results)
    return _verdict(results, round(time.monotonic() - began), whole=names == {"all"})


def _side_by_side(phase: Phase) -> list[Result]:
    with ThreadPoolExecutor(len(phase)) as threads:
        return list(threads.map(_run, phase))


def _run(stage: Stage) -> Result:
    """Run one to its end; once more where a cluster that its tests share was down."""
    print(f"== {stage.name}", flush=True)
    result = stage.run(BUILD)
    if result.collapsed:
        print(f"== {stage.name}: {result.summary}: once more, since what all share could not be had", flush=True)
        print(lines(result), flush=True)
        result = stage.run(BUILD, "again")
    print(f"== {stage.name}: {result.summary}", flush=True)
    if not result.passed:
        print(lines(result), result.tail, sep="\n", flush=True)
    return result


def _again(results: list[Result]) -> None:
    """Run what failed alone, when everything else has ended; many failures are no accident."""
    failed = [(result, nodeid) for result in results for nodeid in result.may_run_again]
    if len(failed) > FLAKY_MOST:
        return
    for result, nodeid in failed:
        runs = [_alone(result, nodeid, turn) for turn in (1, 2)]
        result.again.append(Again(nodeid, result.failed[nodeid].message, all(run.passed for run in runs)))
        print(f"== again, alone: {nodeid}: {[run.summary for run in runs]}", flush=True)


def _alone(result: Result, nodeid: str, turn: int) -> Result:
    (python,) = {stage.python for phase in chosen(frozenset({"all"})) for stage in phase if stage.name == result.name}
    return Stage(f"again-{turn}", pytest=(nodeid,), python=python).run(BUILD, f"{result.name}-{len(result.again)}")


def _verdict(results: list[Result], seconds: int, *, whole: bool) -> int:
    print(table(results), flush=True)
    passed = all(result.passed for result in results)
    print(f"the gate is {'green' if passed else 'red'}, {seconds} s")
    if passed and whole:
        mark.leave(seconds)
    flaky.add([again for result in results for again in result.flaky])
    return 0 if passed else 1


if __name__ == "__main__":
    try:
        sys.exit(main(frozenset(sys.argv[1:]) or frozenset({"all"})))
    except ValueError as error:
        sys.exit(str(error))
