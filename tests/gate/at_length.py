"""What the gate leaves out, at length: the `long` tests, and the bounds that it only notes, asserted; with a report.

`python -m tests.gate.at_length [ROOM]...`, of proxy, unit, groups, pipeline, deploy; without a name, all. Its report is
build/long.md: which commit, stages, failures, figures. Exit code 0 is a pass, 1 is none, 2 means that a tool cannot be
had.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from tests.gate import prepare
from tests.gate.figures import figures
from tests.gate.mark import git
from tests.gate.runs import again, side_by_side
from tests.gate.stage import ROOT, Stage
from tests.gate.stages import SPARK, SPARKS_OWN, Phase, chosen
from tests.gate.verdict import Result, table
from tests.support.bounds import MEASURED

BUILD: Final = ROOT / "build" / "long"
REPORT: Final = ROOT / "build" / "long.md"
PROXY: Final = ("tests/clients", "tests/faults", "tests/attacks", "tests/soak/test_soak.py")


def _room(name: str, *tests: str, least: int, python: str = sys.executable, leaves: tuple[str, ...] = ()) -> Phase:
    """One process, and nothing beside it: what is measured is the product, not its neighbours. Four hours at most."""
    asked = (*tests, "-m", "long or measured")
    asserted = {MEASURED: "1"}
    return (Stage(name, asked, python=python, least=least, leaves=leaves, environment=asserted, limit=4 * 3600.0),)


PHASES: Final[tuple[Phase, ...]] = (
    _room("proxy", *PROXY, least=480),
    # In a process of their own, as in the gate: they count its descriptors.
    _room("unit", "tests/unit", "tests/property", least=44),
    _room("groups", "tests/groups", least=8),
    _room("pipeline", "tests/pipeline", least=10, python=SPARK, leaves=SPARKS_OWN),
    _room("deploy", "tests/deploy", least=45),
)


def main(names: frozenset[str]) -> int:
    """Run the rooms of these names; return the exit code."""
    phases = chosen(names, PHASES)
    BUILD.mkdir(parents=True, exist_ok=True)
    for old in BUILD.glob("*.jsonl"):
        old.unlink()  # the report is of this run
    if missing := prepare.prepare(
        {"real", "faults", "old", "secure", *(stage.name for phase in phases for stage in phase)}
    ):
        print(f"cannot run: {missing}")
        return 2
    began = time.monotonic()
    results = [result for phase in phases for result in side_by_side(phase, BUILD)]
    again(results, phases, BUILD)
    text = report(results, time.monotonic() - began, BUILD)
    REPORT.write_text(text, encoding="utf-8")
    print(text, f"written: {REPORT.relative_to(ROOT)}", sep="\n")
    return 0 if all(result.passed for result in results) else 1


def report(results: Sequence[Result], seconds: float, build: Path) -> str:
    """Return what was run, on which commit and machine, what came of it, and each figure beside its bound."""
    verdict = "passed" if all(result.passed for result in results) else "failed"
    title = f"# The long run: {verdict}, {seconds / 60:.0f} min"
    machine = f"{os.cpu_count()} processors, Python {platform.python_version()}"
    run = f"Commit {_commit()}; {time.strftime('%Y-%m-%d %H:%M')}; {machine}"
    return "\n".join((title, "", run, "", "```", table(results), "```", "", *_rows(build.glob("*.jsonl")), ""))


def _commit() -> str:
    changed = " with changes that are not committed" if git("status", "--porcelain") else ""
    return git("rev-parse", "--short", "HEAD") + changed


def _rows(reports: Iterable[Path]) -> list[str]:
    rows = [
        f"| {one.nodeid} | {one.what} | {one.figure:.3g} | {one.most:.3g} |{'' if one.kept else ' above'}"
        for one in figures(reports)
    ]
    return ["| test | figure, best of its runs | | below |", "|---|---|---|---|", *rows]


if __name__ == "__main__":
    try:
        sys.exit(main(frozenset(sys.argv[1:]) or frozenset({"all"})))
    except ValueError as error:
        sys.exit(str(error))
