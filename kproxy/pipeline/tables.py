"""The pipeline's tables: every column, its type and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

VERSION: Final = 1
"""Rises when a table changes so that an older job, or an older table, no longer fits."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `kind` is Spark's name of its type."""

    name: str
    kind: str
    help: str


@dataclass(frozen=True, slots=True)
class Table:
    """A Delta table in the directory of its name, partitioned by its column `date`."""

    name: str
    help: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(column.name for column in self.columns)

    @property
    def ddl(self) -> str:
        """The columns as Spark SQL declares them."""
        return ", ".join(f"`{column.name}` {column.kind} COMMENT '{column.help}'" for column in self.columns)


_DATE: Final = Column("date", "date", "Partition: the UTC day of `received_at`; a client may say any time")
_WHO: Final = (
    Column("cluster", "string", "The virtual cluster"),
    Column("client_instance_id", "string", "KIP-714 id of the client instance, as its own log has it"),
    Column("client_id", "string", "client.id of Kafka"),
    Column("software_name", "string", "The software of the client, as it says (KIP-511)"),
    Column("software_version", "string", "And its version"),
    Column("address", "string", "The address of the client"),
    Column("port", "bigint", "The port of the client"),
)
_ORIGIN: Final = (
    Column("origin", "string", "The file, or topic-partition, that it was read from"),
    Column("position", "bigint", "The line, or the offset, there"),
)
_MAP: Final = "map<string,string>"

POINTS: Final = Table(
    "points",
    "A row for each data point that a client pushed",
    (
        _DATE,
        Column(
            "time", "timestamp", "When the value was read, by the clock of the client; when it is missing, received_at"
        ),
        Column("start", "timestamp", "When the value began to count, by the clock of the client; null for gauges"),
        Column("received_at", "timestamp", "When kproxy got the push, by its own clock"),
        *_WHO,
        Column("resource", _MAP, "Attributes of the client, as client_rack, group_id"),
        Column("metric", "string", "The name, as org.apache.kafka.producer.record.send.total"),
        Column("unit", "string", "As the client says it, often empty"),
        Column("type", "string", "gauge, sum, histogram, exponential_histogram or summary"),
        Column("temporality", "string", "delta: counted since `start`; cumulative: since the client began"),
        Column("monotonic", "boolean", "Of a sum: it never falls"),
        Column("labels", _MAP, "Attributes of the data point, as topic"),
        Column("value", "double", "Of a gauge or a sum; null where it is not finite"),
        Column("rate", "double", "Of a delta sum: value by second between `start` and `time`"),
        Column("count", "bigint", "Of a distribution: how many values"),
        Column("sum", "double", "Of a distribution: their sum"),
        Column("bounds", "array<double>", "Of a histogram: upper bounds of the buckets, but for the last one"),
        Column("buckets", "array<bigint>", "Of a histogram: counts, one more than bounds"),
        Column("scale", "bigint", "Of an exponential histogram"),
        Column("zero_count", "bigint", "Of an exponential histogram"),
        Column("positive", "struct<offset:bigint,buckets:array<bigint>>", "Of an exponential histogram"),
        Column("negative", "struct<offset:bigint,buckets:array<bigint>>", "Of an exponential histogram"),
        Column("quantiles", "array<struct<quantile:double,value:double>>", "Of a summary"),
    ),
)
PUSHES: Final = Table(
    "pushes",
    "A row for each push; the job finds repeated ones by it",
    (
        Column("date", "date", "Partition: the UTC day of `received_at`"),
        Column("received_at", "timestamp", "When kproxy got the push, by its own clock"),
        *_WHO,
        Column("push", "bigint", "Hash of the resource, the names and the times of its points"),
        Column("start", "timestamp", "The earliest start of its points, by the clock of the client"),
        Column("end", "timestamp", "The latest time of its points, by the clock of the client"),
        Column("points", "bigint", "How many points it has"),
        Column("terminating", "boolean", "The last push of the client"),
        Column("clock_ahead", "double", "Seconds by which the clock of the client is ahead of `received_at`"),
        *_ORIGIN,
    ),
)
EVENTS: Final = Table(
    "events",
    "A row for each event of kproxy, also of kinds that this version does not know",
    (
        Column("date", "date", "Partition: the UTC day of `at`"),
        Column("at", "timestamp", "When it happened"),
        Column("event", "string", "What happened"),
        Column("proxy", "string", "Which kproxy"),
        Column("cluster", "string", "The virtual cluster"),
        Column("json", "string", "The whole event, as kproxy wrote it"),
        *_ORIGIN,
    ),
)
QUARANTINE: Final = Table(
    "quarantine",
    "A row for each record that the job could not read",
    (
        Column("date", "date", "Partition: the UTC day of `read_at`"),
        Column("read_at", "timestamp", "When the job met it"),
        *_ORIGIN,
        Column("reason", "string", "Why it could not be read"),
        Column("raw", "binary", "Its bytes"),
    ),
)
TABLES: Final[Mapping[str, Table]] = MappingProxyType(
    {table.name: table for table in (POINTS, PUSHES, EVENTS, QUARANTINE)}
)
