"""`python -m tests.soak`: soaks kproxy, prints a table and the verdicts, plots; exit code 1 when one is not met."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.soak.plot import plot
from tests.soak.run import Plan, Report, soak

PICTURE: Final = Path("build/soak.png")


def table(report: Report) -> str:
    """Return what each client did, and the verdicts."""
    lines = ["", f"{'client':32} {'done':>8} {'refused':>8}"]
    lines += [f"{name:32} {done:>8} {refused:>8}" for name, done, refused in report.done]
    lines += ["", *(f"{'met    ' if one.met else 'NOT MET'}  {one.name}: {one.figures}" for one in report.verdicts)]
    lines += ["", f"Other processes made this machine {report.slowed:.1f} times slower (2.0 is the most that is told)."]
    return "\n".join(lines)


def main() -> int:
    """Parse the arguments, soak, report."""
    parser = argparse.ArgumentParser(prog="tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="[30]")
    parser.add_argument("--picture", type=Path, default=PICTURE, help=f"[{PICTURE}]")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kproxy-soak-") as directory:
        report = soak(Plan(60 * given.minutes), Path(directory), lambda line: print(line, flush=True))
    plot(report, given.picture)
    print(table(report))
    print(f"\npicture: {given.picture}")
    return 0 if report.met else 1


if __name__ == "__main__":
    sys.exit(main())
