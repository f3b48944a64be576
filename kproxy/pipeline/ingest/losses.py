"""Records of topics that were gone before they were read, as rows of `quarantine`: retention, or a broker, lost them.

Spark notes which offsets a batch begins and ends with in its checkpoint. What it then finds may begin later.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kproxy.pipeline import tables

_GONE: Final = "records were gone before they were read"


def rows(batch: DataFrame, checkpoint: str, number: int) -> DataFrame | None:
    """Return a row for each partition of a topic with losses in a batch; None when there are none."""
    session = batch.sparkSession
    ends = _offsets(session, f"{checkpoint}/offsets/{number}")
    begun = _offsets(session, f"{checkpoint}/offsets/{number - 1}" if number else f"{checkpoint}/sources/*/0")
    if not begun:
        return None
    found = batch.where(F.col("origin").isin(list(ends))).groupBy("origin").agg(F.min("position").alias("first"))
    first = {row["origin"]: row["first"] for row in found.collect()}
    now = datetime.now(UTC)
    lost = [
        (now.date(), now, origin, begin, f"{end - begin} {_GONE}: offsets {begin} to {end - 1}", None)
        for origin, begin, end in _lost(begun, ends, first)
    ]
    return session.createDataFrame(lost, tables.QUARANTINE.schema) if lost else None


def _lost(
    begun: Mapping[str, int], ends: Mapping[str, int], first: Mapping[str, int]
) -> Iterator[tuple[str, int, int]]:
    """Yield partition, first lost offset and the one after the last."""
    for origin, end in ends.items():
        begin = begun.get(origin, 0)  # a partition that is new to the topic
        found = min(first.get(origin, end), end)
        if begin < found:
            yield origin, begin, found


def _offsets(session: SparkSession, path: str) -> dict[str, int]:
    """Return offsets by topic-partition of a file of the checkpoint; nothing if it is not there."""
    try:
        lines = [row["value"] for row in session.read.text(path).collect()]
    except AnalysisException:
        return {}
    return {
        f"{topic}-{partition}": offset
        for line in lines
        if line.startswith("{")
        for topic, partitions in json.loads(line).items()
        if isinstance(partitions, dict)
        for partition, offset in partitions.items()
        if partition.isdigit()
    }
