"""Runs of stages: side by side, once more where a shared cluster was down, and what failed again alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.gate.stage import Stage
from tests.gate.verdict import FLAKY_MOST, Again, Result, lines


def side_by_side(phase: Sequence[Stage], build: Path) -> list[Result]:
    """Run these at once, each to its end."""
    shares = [f"{number}/{len(phase)}" for number in range(1, len(phase) + 1)]
    with ThreadPoolExecutor(len(phase)) as threads:
        return list(threads.map(partial(_run, build=build), phase, shares))


def _run(stage: Stage, ports: str, build: Path) -> Result:
    print(f"== {stage.name}\n", end="", flush=True)  # one write: stages side by side begin at once
    result = stage.run(build, ports=ports)
    if result.collapsed:
        print(f"== {stage.name}: {result.summary}: once more, since what all share could not be had", flush=True)
        print(lines(result), flush=True)
        result = stage.run(build, "again", ports)
    print(f"== {stage.name}: {result.summary}", flush=True)
    if not result.passed:
        print(lines(result), result.tail, sep="\n", flush=True)
    return result


def again(results: Iterable[Result], phases: Iterable[Sequence[Stage]], build: Path) -> None:
    """Run what failed twice alone, when everything else has ended; many failures are no accident.

    Both runs must pass. Of a bound that was measured (`Stage.measures`) one of them must: the best of three counts.
    """
    stages = {stage.name: stage for phase in phases for stage in phase}
    failed = [(result, nodeid) for result in results for nodeid in result.may_run_again]
    if len(failed) > FLAKY_MOST:
        return
    for result, nodeid in failed:
        why, stage = result.failed[nodeid], stages[result.name]
        enough = any if stage.measures and why.measured else all
        passed = enough(_alone(stage, nodeid, build, f"{result.name}-{len(result.again)}"))
        result.again.append(Again(nodeid, why.message, passed))


def _alone(stage: Stage, nodeid: str, build: Path, prefix: str) -> Iterator[bool]:
    """Yield whether it passed, in a process of its own with new clusters. Nobody asks for what decides nothing."""
    for turn in (1, 2):
        run = stage.of(f"again-{turn}", nodeid).run(build, prefix)
        print(f"== again, alone: {nodeid}: {run.summary}", flush=True)
        yield run.passed
