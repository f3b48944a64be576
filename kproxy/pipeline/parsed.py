"""Records as pushes, events and problems: three selections of one cached batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kproxy.pipeline import published, tables

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

KNOWN_EVENT_SCHEMA: Final = 1
"""The highest `schema` of events whose fields this version knows."""

_CORRUPT: Final = "_corrupt"


@dataclass(frozen=True, slots=True)
class Parsed:
    """A batch of records."""

    rows: DataFrame
    """`origin`, `position`, `line`, `problem`, `raw`; `push` or `event` where the record is one."""

    def pushes(self) -> DataFrame:
        """Origin, position and the fields of `published.pushes`, with what tells a push from a repeated one."""
        from pyspark.sql import functions as F

        found = self.rows.where("problem is null and push is not null").select("origin", "position", "push.*")
        resource = F.expr("to_json(array_sort(map_entries(resource)))")
        identity = F.xxhash64(resource, "metrics.name", "metrics.start_unix_nano", "metrics.unix_nano")
        return found.withColumn("received_at", F.try_to_timestamp("received_at")).withColumn("push", identity)

    def events(self) -> DataFrame:
        """The rows of `tables.EVENTS`."""
        from pyspark.sql import functions as F

        found = self.rows.where("problem is null and event is not null")
        event = found.select("origin", "position", "event.*", F.col("line").alias("json"))
        return (
            event.withColumn("at", F.try_to_timestamp("at"))
            .withColumn("date", F.to_date("at"))
            .select(*(column.name for column in tables.EVENTS.columns))
        )

    def problems(self) -> DataFrame:
        """The rows of `tables.QUARANTINE`."""
        from pyspark.sql import functions as F

        raw = F.coalesce("raw", F.encode("line", "UTF-8"))
        found = self.rows.where("problem is not null").withColumn("raw", raw).withColumn("read_at", F.now())
        return found.select(
            F.to_date("read_at").alias("date"), "read_at", "origin", "position", F.col("problem").alias("reason"), "raw"
        )


def parse(records: DataFrame) -> DataFrame:
    """Return records with `push` or `event`, or a `problem`: each line is one of the three."""
    from pyspark.sql import functions as F

    read = F.from_json("line", _line_schema(), {"columnNameOfCorruptRecord": _CORRUPT})
    rows = records.withColumn("read", F.when(F.col("line").isNotNull(), read))
    push = F.struct(*(F.col(f"read.{field.name}").alias(field.name) for field in published.pushes()))
    event = F.struct(*(F.col(f"read.{name}").alias(name) for name in ("event", "at", "proxy", "cluster")))
    rows = rows.withColumn("problem", F.coalesce("problem", _problem()))
    return rows.select(
        "origin",
        "position",
        "line",
        "problem",
        "raw",
        F.coalesce("push", F.when(F.col("read.metrics").isNotNull(), push)).alias("push"),
        F.when(F.col("read.event").isNotNull(), event).alias("event"),
    )


def _line_schema() -> StructType:
    """The fields of pushes and of events: no name is in both with two types."""
    from pyspark.sql.types import LongType, StringType, StructType

    fields = {field.name: field for field in published.pushes()}
    for name in ("event", "at", "proxy"):
        fields.setdefault(name, published.events()[name])
    return StructType(list(fields.values())).add("schema", LongType()).add(_CORRUPT, StringType())


def _problem() -> Column:
    """Why a line is neither a push nor an event; null if it is one."""
    from pyspark.sql import functions as F

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
