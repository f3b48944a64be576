"""`kproxy pipeline run`, killed at random moments of its work: nothing is lost, and nothing is there twice.

Each run has a file of its own to read, so that it has work to do; a killed one leaves that to the next.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kproxy.observe.events import encode
from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.derived.job import Derivation
from kproxy.pipeline.ingest import job
from kproxy.pipeline.ingest.inputs import FilesInput
from tests.pipeline.derived.test_of_events import BEGAN, EVENTS
from tests.pipeline.ingest.topic import Table, counted
from tests.pipeline.written import file, points, push
from tests.support.wait import until

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KILLS = int(os.environ.get("TEST_KILLS", "20"))
"""A kill costs a start of Spark: 20 take five to six minutes on two quiet cores."""
CLIENTS = 5
SEED = 714
_LONG = 600.0
"""Seconds that a start of Spark may take on a machine with much else to do; ten on a quiet one."""
_JAVA = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
"""The first compiler alone; by itself it has a fifth of the room for code, and Spark ends when that is full."""
_QUICK = f"--conf 'spark.driver.extraJavaOptions={_JAVA}' pyspark-shell"
"""A JVM that lives for seconds does not earn the time that its better compiler takes."""
_DERIVED = (
    tables.CONNECTIONS,
    tables.CLIENTS,
    tables.INSTANCES,
    tables.TRAFFIC,
    tables.TOPOLOGY,
    tables.ERRORS_BY_CLASS,
    tables.GROUP_REBALANCES,
    tables.ROLLUP_1M,
    tables.ROLLUP_1H,
)


@pytest.mark.timeout(3000)
def test_killed_at_random_moments(spark: SparkSession, tmp_path: Path, output: Path, table: Table) -> None:
    """All that was read is there once, and what follows from it is what a run that was never killed makes of it."""
    rng, directory = random.Random(SEED), tmp_path / "in"
    Output(spark, str(output)).create(tables.TABLES.values())
    jobs = [_Job(directory, output)]
    span = jobs[0].ends()
    killed = 0
    while killed < KILLS:
        jobs.append(_Job(directory, output, len(jobs)))
        killed += jobs[-1].is_killed(rng.uniform(0, span), rng.choice((os.kill, os.killpg)))
        assert len(jobs) < 2 * KILLS
    jobs.append(_Job(directory, output, len(jobs)))
    jobs[-1].ends()
    for each in jobs:
        until(each.is_gone, "Spark ends by itself, once the process that started it is gone", _LONG)

    turns = range(len(jobs))
    pushes = [push(client, turn) for turn in turns for client in range(CLIENTS)]
    assert counted(table) == Counter(points(pushes))
    assert table("pushes").count() == len(pushes)
    assert Counter(row["json"] for row in table("events").collect()) == Counter(
        line.decode() for turn in turns for line in _events(turn)
    )
    assert [row["position"] for row in table("quarantine").collect()] == [len(EVENTS) + 1] * len(turns)

    whole = Output(spark, str(tmp_path / "whole"))
    assert job.Job(whole, [FilesInput(str(directory))]).start(None).awaitTermination(int(_LONG))
    Derivation(whole).run()
    for one in _DERIVED:
        expected = _comparable(whole.read(one))
        assert expected, one.name
        assert _comparable(table(one.name)) == expected, one.name


class _Job:
    """The job as a user starts it, in a process group of its own, with one more file to read."""

    def __init__(self, directory: Path, output: Path, turn: int = 0) -> None:
        _write(directory, turn)
        self._output, self._said = output, output.parent / "said"
        command = [sys.executable, "-m", "kproxy", "pipeline", "run", "--input", f"files:{directory}"]
        before = self._files()
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(
                [*command, "--output", str(output), "--master", "local[2]"],
                stdout=said,
                stderr=said,
                start_new_session=True,
                env=os.environ | {"PYSPARK_SUBMIT_ARGS": _QUICK},
            )
        try:
            until(lambda: self._files() != before or self._process.poll() is not None, "it writes", _LONG, every=0.02)
        except AssertionError:
            os.killpg(self._process.pid, signal.SIGKILL)
            raise
        self._began = time.monotonic()

    def ends(self) -> float:
        """Wait for its end, and return the seconds since it began to write."""
        assert self._process.wait(_LONG) == 0, self._said.read_text()[-2000:]
        return time.monotonic() - self._began

    def is_killed(self, after: float, kill: Callable[[int, int], None]) -> bool:
        """Kill it so many seconds after it began to write, alone or with Spark; False when it ended before."""
        try:
            code = self._process.wait(max(0.0, self._began + after - time.monotonic()))
        except subprocess.TimeoutExpired:
            kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
            return True
        assert code == 0, self._said.read_text()[-2000:]
        return False

    def is_gone(self) -> bool:
        """True when nothing that it started is alive."""
        try:
            os.killpg(self._process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    def _files(self) -> int:
        return sum(len(files) - ("_lock" in files) for _, _, files in os.walk(self._output))


def _write(directory: Path, turn: int) -> None:
    """Add a file of pushes, and one of events with a line that is none."""
    file(directory, [push(client, turn) for client in range(CLIENTS)])
    part = directory / f".events-{turn}.json.part"
    part.write_bytes(b"\n".join([*_events(turn), b"nobody's"]))
    part.rename(directory / f"events-{turn}.json")


def _events(turn: int) -> list[bytes]:
    return [encode(event, BEGAN + at + 600 * turn, proxy, "main", 0).payload for at, proxy, event in EVENTS]


def _comparable(rows: DataFrame) -> list[str]:
    """Rows as text, sorted; sketches of instances by what they count, which no order of merges changes."""
    if "instances" in rows.columns:
        rows = rows.selectExpr("* except(instances)", "hll_sketch_estimate(instances) AS instances")
    return sorted(repr({name: _plain(value) for name, value in row.asDict(True).items()}) for row in rows.collect())


def _plain(value: Any) -> Any:
    """Floats but for the last digits, since sums depend on their order; maps in the order of their keys."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    return sorted(value.items()) if isinstance(value, dict) else value
