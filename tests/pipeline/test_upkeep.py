"""kproxy.pipeline.run: a job that stays maintains its tables once a day, however often it is restarted."""

from __future__ import annotations

import time
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from kproxy.pipeline import tables
from kproxy.pipeline.delta import MARKED, Output
from kproxy.pipeline.run import _MAINTAINED, _Upkeep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOUR = 3600
UPKEEP = "upkeep"
MOST_TASKS = 200
"""Of an empty table. With Spark's own settings they were 90,000, and took a minute."""


def test_once_a_day_across_restarts(spark: SparkSession, tmp_path: Path) -> None:
    """New tables are due at once; then a day after the last time, which the tables themselves remember."""
    output = Output(spark, str(tmp_path))
    output.create([MARKED])
    said: list[str] = []
    for ago, due in ((None, True), (None, False), (23 * HOUR, False), (25 * HOUR, True)):
        if ago is not None:
            output.set_properties(MARKED, {_MAINTAINED: f"{time.time() - ago:.0f}"})
        said.clear()
        upkeep = _Upkeep({}, said.append)
        upkeep.daily(output)
        assert said == (["rollup_1h: nothing to do"] if due else []), ago
        upkeep.daily(output)
        assert len(said) == due


def test_a_stream_appends_while_tables_are_maintained(spark: SparkSession, tmp_path: Path) -> None:
    """Upkeep changes the properties of no table that a stream appends to, and takes few tasks."""
    output = Output(spark, str(tmp_path))
    output.create([*tables.BASE, MARKED])
    before = {table: output.properties(table) for table in tables.BASE}
    spark.sparkContext.setJobGroup(UPKEEP, "")
    for table in tables.BASE:
        output.delete_before(table, date(2026, 1, 1))
    _Upkeep({}, print).now(output)
    spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    assert {table: output.properties(table) for table in tables.BASE} == before
    assert _tasks(spark) < MOST_TASKS * len([*tables.BASE, MARKED])


def _tasks(spark: SparkSession) -> int:
    """Return how many tasks the upkeep took, of those stages that Spark still knows."""
    tracker = spark.sparkContext.statusTracker()
    jobs = [job for number in tracker.getJobIdsForGroup(UPKEEP) if (job := tracker.getJobInfo(number))]
    return sum(stage.numTasks for job in jobs for each in job.stageIds if (stage := tracker.getStageInfo(each)))
