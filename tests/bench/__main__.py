"""`python -m tests.bench`: measure, print the table, write all samples to a file."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NoReturn

import click

from kproxy.errors import KproxyError

from . import machine, report
from .idle import WANTED
from .measure import Run
from .options import SECTIONS, Options
from .process import BenchError, raise_file_limit

_MOST_SECONDS: Final = 14 * 60
"""Seconds after which a hanging run ends; rounds are dropped before that."""


def _sections(_: click.Context, __: click.Parameter, value: str) -> frozenset[str]:
    chosen = frozenset(value.split(","))
    if unknown := chosen - set(SECTIONS):
        raise click.BadParameter(f"{', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    return chosen


@click.command()
@click.option("--quick", is_flag=True, help="A tenth of the work: to see that it runs, not to judge by.")
@click.option("--only", "sections", default=",".join(SECTIONS), callback=_sections, help="Sections, with commas.")
@click.option("--rounds", type=click.IntRange(1, 20), default=None, help="Rounds of each section (3; quick: 1).")
@click.option(
    "--before",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The program kproxy of another commit's build: both in turns, and a table of the two.",
)
@click.option("--json", "path", type=click.Path(path_type=Path), default=Path("build/bench.json"), show_default=True)
def main(quick: bool, sections: frozenset[str], rounds: int | None, before: Path | None, path: Path) -> None:
    """kproxy beside HAProxy in TCP mode and a direct connection, against a real Kafka of three brokers."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that every started process is ended
    signal.signal(signal.SIGALRM, _out_of_time)
    signal.alarm(_MOST_SECONDS)
    options = Options.quick(sections, rounds or 1) if quick else Options(sections, rounds or 3)
    began, start = machine.describe(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kproxy-bench-") as directory:
        run = Run(options, Path(directory), raise_file_limit(2 * WANTED + 4000), _say, before)
        failure = None
        try:
            run.measure()
        except (BenchError, KproxyError) as error:
            failure = str(error)
        finally:
            signal.alarm(0)
    _show(run, began | {"seconds": round(time.monotonic() - start)}, path)
    if failure is not None:
        sys.exit(f"bench: {failure}")


def _out_of_time(*_: object) -> NoReturn:
    raise BenchError(f"stopped after {_MOST_SECONDS} s: the table has what was measured until then")


def _say(line: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {line}", file=sys.stderr, flush=True)


def _show(run: Run, facts: dict[str, object], path: Path) -> None:
    rows = report.rows(run.samples.values)
    print(", ".join(f"{name} {value}" for name, value in facts.items()))
    print()
    print(report.table(rows))
    if pairs := report.pairs(run.samples.values):
        print()
        print(report.pairs_table(pairs))
    for note in run.samples.notes:
        print(f"\n{note}")
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = {
        "machine": facts,
        "results": report.as_json(rows),
        "samples": run.samples.values,
        "notes": run.samples.notes,
    }
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    print(f"\nAll samples: {path}")


if __name__ == "__main__":
    main()
