"""The fields of events, which the table `events` keeps as kproxy wrote them."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kproxy.pipeline.ingest import published


def with_details(events: DataFrame) -> DataFrame:
    """Return events with a column for each field of `published.events`; one that an event lacks is null."""
    common = [name for name in ("date", "at", "event", "proxy", "cluster") if name in events.columns]
    rest = [name for name in published.events().names if name not in common]
    read = events.withColumn("read", F.from_json("json", published.events()))
    return read.select(*common, *(F.col(f"read.{name}").alias(name) for name in rest))
