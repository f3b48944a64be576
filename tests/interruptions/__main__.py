"""`make interruptions`: how long nine client versions stand still in each, written to docs/rebootstrap.md."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from kproxy.docs_part import with_part
from tests.interruptions import cases
from tests.interruptions.gaps import Gap, errors, table

PAGE = Path(__file__).parents[2] / "docs" / "rebootstrap.md"
BEGIN, END = "<!-- interruptions: written by `make interruptions` -->\n", "<!-- end of interruptions -->"


def main() -> None:
    """Run the cases, print the tables, and write them unless some were left out."""
    names = [case.__name__ for case in cases.CASES]
    parser = argparse.ArgumentParser(prog="python -m tests.interruptions", description=__doc__)
    parser.add_argument("--only", choices=names, action="append", help="one case; nothing is written then")
    wanted = parser.parse_args().only or names
    part = _part(_measured(wanted))
    print(part)
    if wanted == names:
        PAGE.write_text(with_part(PAGE, PAGE.read_text(), BEGIN, part, END))


def _measured(wanted: list[str]) -> list[Gap]:
    gaps: list[Gap] = []
    with cases.Clusters.running() as clusters:
        for case in cases.CASES:
            if case.__name__ in wanted:
                print(f"{case.__name__}: {case.__doc__}", flush=True)
                with tempfile.TemporaryDirectory(prefix="kproxy-interruptions-") as directory:
                    gaps += case(clusters, Path(directory))
    return gaps


def _part(gaps: list[Gap]) -> str:
    columns = list(dict.fromkeys(gap.case for gap in gaps))
    said = f"Measured on {time.strftime('%Y-%m-%d')}: seconds of the producer, of the consumer.\n"
    shown = "What their users were shown meanwhile:\n"
    return "\n".join((said, table(cases.LIBRARIES, columns, gaps), "", shown, errors(gaps), ""))


if __name__ == "__main__":
    main()
