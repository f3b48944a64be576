"""Records as pushes, events and problems: three selections of one cached batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructType

from kproxy.pipeline import tables
from kproxy.pipeline.ingest import published

KNOWN_EVENT_SCHEMA: Final = 1
"""The highest `schema` of events whose fields this version knows."""

_CORRUPT: Final = "_corrupt"


_PUSH: Final = "problem is null and push is not null"
_EVENT: Final = "problem is null and event is not null"


class Found(NamedTuple):
    """How many pushes, events and problems there are, and the bounds of `received_at`."""

    pushes: int
    events: int
    problems: int
    first: int | None
    """Unix microseconds; None without pushes."""
    last: int | None


@dataclass(frozen=True, slots=True)
class Parsed:
    """A batch of records."""

    rows: DataFrame
    """`origin`, `position`, `line`, `problem`, `raw`; `push` with its `identity`, its `constant`; `event`."""

    def found(self) -> Found:
        """Count what there is."""
        received = F.unix_micros(F.when(F.expr(_PUSH), F.try_to_timestamp("push.received_at")))
        counts = (F.expr(f"count_if({which})") for which in (_PUSH, _EVENT, "problem is not null"))
        return Found(*self.rows.agg(*counts, F.min(received), F.max(received)).collect()[0])

    def pushes(self) -> DataFrame:
        """Origin, position, the fields of `published.pushes`, `constant`, and what tells a push from a repeated one."""
        found = self.rows.where(_PUSH)
        pushes = found.select("origin", "position", "push.*", "constant", F.col("identity").alias("push"))
        return pushes.withColumn("received_at", F.try_to_timestamp("received_at"))

    def events(self) -> DataFrame:
        """The rows of `tables.EVENTS`."""
        found = self.rows.where(_EVENT)
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
    constant = F.coalesce("constant", F.when(F.col("read.metrics").isNotNull(), _other_fields()))
    made = rows.select(
        *("origin", "position", "line", "problem", "raw"),
        *(push.alias("push"), constant.alias("constant"), event.alias("event")),
    )
    return made.withColumn("identity", F.when(F.col("push").isNotNull(), _identity()))


def _identity() -> Column:
    """A hash that tells a client's pushes of one moment from each other: of what they measure, and when."""
    resource = F.expr("to_json(array_sort(map_entries(push.resource)))")
    return F.xxhash64(resource, "push.metrics.name", "push.metrics.start_unix_nano", "push.metrics.unix_nano")


def _other_fields() -> Column:
    """The fields of a push's line that are not of `published.pushes`: kproxy writes them before the resource."""
    known = ", ".join(f"'{name}'" for name in _line_schema().names)
    # Quotes within a text have a backslash, so only the field itself is found.
    head = """concat(substring_index(line, ',"resource":', 1), '}')"""
    return F.expr(f"map_filter(from_json({head}, 'map<string,string>'), (name, value) -> name not in ({known}))")


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
