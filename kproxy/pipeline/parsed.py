"""Records as pushes, events and problems: three selections of one cached batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructType

from kproxy.pipeline import published, tables

KNOWN_EVENT_SCHEMA: Final = 1
"""The highest `schema` of events whose fields this version knows."""

_CORRUPT: Final = "_corrupt"


@dataclass(frozen=True, slots=True)
class Parsed:
    """A batch of records."""

    rows: DataFrame
    """`origin`, `position`, `line`, `problem`, `raw`; and `push` with its `identity`, or `event`, or neither."""

    def pushes(self) -> DataFrame:
        """Origin, position and the fields of `published.pushes`, with what tells a push from a repeated one."""
        found = self.rows.where("problem is null and push is not null")
        pushes = found.select("origin", "position", "push.*", F.col("identity").alias("push"))
        return pushes.withColumn("received_at", F.try_to_timestamp("received_at"))

    def events(self) -> DataFrame:
        """The rows of `tables.EVENTS`."""
        found = self.rows.where("problem is null and event is not null")
        event = found.select("origin", "position", "event.*", F.col("line").alias("json"))
        return (
            event.withColumn("at", F.try_to_timestamp("at"))
            .withColumn("date", F.to_date("at"))
            .select(*tables.EVENTS.names)
        )

    def problems(self) -> DataFrame:
        """The rows of `tables.QUARANTINE`."""
        raw = F.coalesce("raw", F.encode("line", "UTF-8"))
        found = self.rows.where("problem is not null").withColumn("raw", raw).withColumn("read_at", F.now())
        return found.select(
            F.to_date("read_at").alias("date"), "read_at", "origin", "position", F.col("problem").alias("reason"), "raw"
        )


def parse(records: DataFrame) -> DataFrame:
    """Return records with `push` or `event`, or a `problem`: each line is one of the three."""
    read = F.from_json("line", _line_schema(), {"columnNameOfCorruptRecord": _CORRUPT})
    rows = records.withColumn("read", F.when(F.col("line").isNotNull(), read))
    push = F.struct(*(F.col(f"read.{field.name}").alias(field.name) for field in published.pushes()))
    event = F.struct(*(F.col(f"read.{name}").alias(name) for name in ("event", "at", "proxy", "cluster")))
    rows = rows.withColumn("problem", F.coalesce("problem", _problem()))
    push = F.coalesce("push", F.when(F.col("read.metrics").isNotNull(), push))
    event = F.when(F.col("read.event").isNotNull(), event)
    made = rows.select("origin", "position", "line", "problem", "raw", push.alias("push"), event.alias("event"))
    return made.withColumn("identity", F.when(F.col("push").isNotNull(), _identity()))


def _identity() -> Column:
    """A hash that tells a client's pushes of one moment from each other: of what they measure, and when."""
    resource = F.expr("to_json(array_sort(map_entries(push.resource)))")
    return F.xxhash64(resource, "push.metrics.name", "push.metrics.start_unix_nano", "push.metrics.unix_nano")


def _line_schema() -> StructType:
    """The fields of pushes and of events: no name is in both with two types."""
    fields = {field.name: field for field in published.pushes()}
    for name in ("event", "at", "proxy"):
        fields.setdefault(name, published.events()[name])
    return StructType(list(fields.values())).add("schema", LongType()).add(_CORRUPT, StringType())


def _problem() -> Column:
    """Why a line is neither a push nor an event; null if it is one."""
    read, instance = F.col("read"), "client_instance_id"
    when = F.when(F.col("line").isNull(), None)
    when = when.when(read.isNull() | read[_CORRUPT].isNotNull(), "not a JSON object with the fields of kproxy")
    when = when.when(
        read["event"].isNull() & read["metrics"].isNull(), "JSON, but neither a push nor an event of kproxy"
    )
    later = F.concat(F.lit("schema "), read["schema"], F.lit(f": this pipeline reads {KNOWN_EVENT_SCHEMA}; update it"))
    when = when.when(read["schema"] > KNOWN_EVENT_SCHEMA, later)
    time = F.when(read["event"].isNotNull(), read["at"]).otherwise(read["received_at"])
    when = when.when(F.try_to_timestamp(time).isNull(), "without a time (`at` or `received_at`)")
    return when.when(read["metrics"].isNotNull() & read[instance].isNull(), f"a push without {instance}")
