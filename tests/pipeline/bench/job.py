"""The job, in a process of its own: `python -m tests.pipeline.bench.job INPUT OUTPUT MASTER` prints what it took."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Final

from kproxy.pipeline import session, streams
from kproxy.pipeline.delta import Output
from kproxy.pipeline.ingest import inputs, job
from kproxy.pipeline.tables import POINTS, TABLES
from tests.support.proc import family, family_cpu_seconds

_KEPT: Final = "10000"
"""Of the query's progress: all batches."""


def main(given: str, place: str, master: str) -> None:
    """Run the job to its end and print what it took, without the start of Spark and the creation of the tables."""
    options = {"spark.sql.streaming.numRecentProgressUpdates": _KEPT}
    output = Output(session.start("kproxy bench", master, [session.KAFKA], options), place)
    output.create(TABLES.values())
    cpu, compiling, began = family_cpu_seconds(os.getpid()), _compiling(), time.monotonic()
    query = job.Job(output, [inputs.parse(given)]).start(None)
    streams.wait(query, lambda done: None)
    figures = {
        "seconds": time.monotonic() - began,
        "cpu": family_cpu_seconds(os.getpid()) - cpu,
        "cpu_compiling": _compiling() - compiling,
        "batches": [_batch(each) for each in query.recentProgress if each["numInputRows"]],
        "points": output.read(POINTS).count(),
        "bytes": _size(Path(place, POINTS.name)),
    }
    print(json.dumps(figures))


def _batch(progress: dict[str, Any]) -> float:
    return float(progress["durationMs"]["triggerExecution"]) / 1000


def _compiling() -> float:
    """CPU seconds that the JVM's compilers took: what a longer run would not spend again."""
    threads = (thread for pid in family(os.getpid()) for thread in Path(f"/proc/{pid}/task").iterdir())
    return sum(map(_ticks_of_compiler, threads)) / os.sysconf("SC_CLK_TCK")


def _ticks_of_compiler(thread: Path) -> int:
    try:
        if (thread / "comm").read_text().startswith(("C1 CompilerThre", "C2 CompilerThre")):
            return sum(map(int, (thread / "stat").read_text().rpartition(")")[2].split()[11:13]))
    except (FileNotFoundError, ProcessLookupError):  # the thread ended just now
        pass
    return 0


def _size(table: Path) -> int:
    return sum(file.stat().st_size for file in table.rglob("*.parquet"))


if __name__ == "__main__":
    main(*sys.argv[1:])
