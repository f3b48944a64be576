"""The gate: runs its stages, each to its end, then what failed twice more, alone; prints a table and one verdict.

`python -m tests.gate [STAGE]...`, from a checkout that `make setup` has prepared; without a name, all. Exit code 0 is a
pass, 1 is none, 2 means that a tool cannot be had. docs/maintainers/testing.md has the rules.
"""

from __future__ import annotations

import sys
import time
from typing import Final

from tests.gate import flaky, mark, prepare
from tests.gate.changed import thrice
from tests.gate.runs import again, side_by_side
from tests.gate.stage import ROOT
from tests.gate.stages import chosen
from tests.gate.verdict import Result, table

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
        results.extend(side_by_side(phase, BUILD))
    again(results, phases, BUILD)
    return _verdict(results, round(time.monotonic() - began), whole=names == {"all"})


def _verdict(results: list[Result], seconds: int, *, whole: bool) -> int:
    print(table(results), flush=True)
    passed = all(result.passed for result in results)
    print(f"the gate is {'green' if passed else 'red'}, {seconds} s")
    if passed and whole:
        mark.leave(seconds)
    flaky.add([one for result in results for one in result.flaky])
    return 0 if passed else 1


if __name__ == "__main__":
    try:
        sys.exit(main(frozenset(sys.argv[1:]) or frozenset({"all"})))
    except ValueError as error:
        sys.exit(str(error))
