"""Files of tests that are new or changed run three times before all others: what is flaky from its first day shows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.gate.mark import git, marks
from tests.gate.stage import ROOT, Stage
from tests.gate.verdict import Result

TIMES: Final = 3
SECONDS: Final = 180.0
"""For all of them together."""
_LOOKED_AT: Final = 50
"""Commits, back from HEAD, among which the last one that passed a gate here is looked for."""
_ELSEWHERE: Final = ("tests/pipeline/", "tests/deploy/")
"""What another environment runs, or what is built for minutes first."""
_QUICK: Final = ("tests/unit/", "tests/property/")
"""These come first."""


def thrice(build: Path) -> list[Result]:
    """Run them; return nothing where there are none. What was not begun in time runs in its own stage only."""
    files = changed()
    if not files:
        return []
    print(f"== changed: {len(files)} files, three times", flush=True)
    merged = Result("changed", 0.0)
    for run in _runs(build, files):
        merged.seconds += run.seconds
        merged.load = run.load
        merged.passed_tests += run.passed_tests
        merged.failed |= run.failed
        merged.broken = merged.broken or run.broken
    print(f"== changed: {merged.summary}", flush=True)
    return [merged]


def changed() -> list[str]:
    """Return the files, since the last commit that passed a gate on this machine; else since the last commit."""
    names = git("diff", "--name-only", "--diff-filter=AMR", f"{_base()}..HEAD", "--", "tests").splitlines()
    tests = [name for name in names if Path(name).name.startswith("test_") and name.endswith(".py")]
    here = [name for name in tests if not name.startswith(_ELSEWHERE) and (ROOT / name).exists()]
    return sorted(here, key=lambda name: not name.startswith(_QUICK))


def _base() -> str:
    commits = git("rev-list", f"--max-count={_LOOKED_AT}", "HEAD").splitlines()
    for commit in commits[1:]:
        if (marks() / git("rev-parse", f"{commit}^{{tree}}")).exists():
            return commit
    return commits[min(1, len(commits) - 1)]


def _runs(build: Path, files: list[str]) -> Iterator[Result]:
    """Run file by file, so that a slow one takes the time of no other that was begun before it."""
    ends = time.monotonic() + SECONDS
    for turn in range(TIMES):
        for number, file in enumerate(files):
            left = ends - time.monotonic()
            if left < 1:
                return
            run = Stage(f"changed-{number}-{turn}", pytest=(file, "-m", "not long"), limit=left).run(build)
            if run.broken in ("exit code 5", "ended at its limit"):  # all are long; or it had no time left
                run.broken = ""
            yield run
