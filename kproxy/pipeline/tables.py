"""The pipeline's tables: every column, its type and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

VERSION: Final = 2
"""Rises when a table changes so that an older job, or an older table, no longer fits."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `kind` is Spark's name of its type."""

    name: str
    kind: str
    help: str


@dataclass(frozen=True, slots=True)
class Table:
    """A Delta table in the directory of its name, partitioned by its column `date`, or whole if it has none."""

    name: str
    help: str
    columns: tuple[Column, ...]
    bounded: tuple[str, ...] = ()
    """Columns whose bounds Delta keeps for each file, to pass over files; none are the first 32, as Delta does it."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(column.name for column in self.columns)

    @property
    def partitioned(self) -> bool:
        """True for a table that grows by the day."""
        return "date" in self.names

    @property
    def schema(self) -> str:
        """The columns as Spark takes a schema."""
        return ", ".join(f"`{column.name}` {column.kind}" for column in self.columns)

    @property
    def ddl(self) -> str:
        """The columns as Spark SQL declares them."""
        return ", ".join(f"`{column.name}` {column.kind} COMMENT '{column.help}'" for column in self.columns)


_DATE: Final = Column("date", "date", "Partition: the UTC day of `received_at`; a client may say any time")
_MAP: Final = "map<string,string>"
_WHO: Final = (
    Column("cluster", "string", "The virtual cluster"),
    Column("client_instance_id", "string", "KIP-714 id of the client instance, as its own log has it"),
    Column("client_id", "string", "client.id of Kafka"),
    Column("software_name", "string", "The software of the client, as it says (KIP-511)"),
    Column("software_version", "string", "And its version"),
    Column("address", "string", "The address of the client"),
    Column("port", "bigint", "The port of the client"),
    Column("principal", "string", "The principal that the broker authenticated, as User:alice; null when unknown"),
    Column("proxy", "string", "Which kproxy"),
    Column(
        "constant", _MAP, "What `constant` of the receiver says, as env; also fields that this version does not know"
    ),
)
_ORIGIN: Final = (
    Column("origin", "string", "The file, or topic-partition, that it was read from"),
    Column("position", "bigint", "The line, or the offset, there"),
)
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
    # Each file has points of all clients: the bounds of other columns would say nothing, for a sixth of the job's time.
    bounded=("time", "received_at"),
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
_CLIENT: Final = (
    Column("cluster", "string", "The virtual cluster"),
    Column("client_id", "string", "client.id of Kafka"),
    Column("software_name", "string", "The software of the client, as it says (KIP-511)"),
    Column("software_version", "string", "And its version"),
)
_ADDRESS: Final = (
    Column("address", "string", "The address of the client"),
    Column("principal", "string", "The principal that the broker authenticated, as User:alice; null when unknown"),
)
_PASSED: Final = (
    Column("requests", "bigint", "Requests that came from it"),
    Column("responses", "bigint", "Responses that went to it"),
    Column("bytes_in", "bigint", "Bytes that came from it"),
    Column("bytes_out", "bigint", "Bytes that went to it"),
)
_CAPABILITIES: Final = (
    Column("metadata_version", "bigint", "The highest version of Metadata that it used"),
    Column("rebootstrap", "string", "What brings it back when its cluster is gone: 129, kip-899, no, unknown"),
)
_KIP_1242: Final = Column(
    "kip_1242",
    "boolean",
    "It names the cluster and node that it means, false where its ApiVersions is too old for that; null when unknown, "
    "as at bootstrap servers, where it knows neither yet",
)

CONNECTIONS: Final = Table(
    "connections",
    "A row for each connection of a client, as it was last seen",
    (
        Column("date", "date", "Partition: the UTC day of `since`"),
        Column("proxy", "string", "Which kproxy"),
        Column("connection", "bigint", "Its number: its own together with `proxy` and `since`"),
        Column("since", "timestamp", "When it began"),
        *_CLIENT,
        *_ADDRESS,
        Column("port", "bigint", "The port of the client"),
        Column("node", "bigint", "The node that it is for; null at the bootstrap port"),
        Column("broker", "string", "The host:port of the broker that it is relayed to"),
        *_CAPABILITIES,
        _KIP_1242,
        Column("last_seen", "timestamp", "The time of its last event"),
        Column("ended", "timestamp", "When it ended; null as long as no event says so"),
        Column("reason", "string", "Why it ended, in the words of the metrics"),
        Column("detail", "string", "What is known beyond that"),
        Column("seconds", "double", "How long it was there; null until it has ended"),
        *_PASSED,
    ),
)
CLIENTS: Final = Table(
    "clients",
    "A row for each client, as /api/v1/clients lists them: all connections alike in these first six columns",
    (
        *_CLIENT,
        *_ADDRESS,
        Column("first_seen", "timestamp", "When its first connection began"),
        Column("last_seen", "timestamp", "The time of its last event or push"),
        *_CAPABILITIES,
        Column("kip_714", "boolean", "It has pushed its metrics"),
        Column("kip_899", "boolean", "It bootstraps again once it can reach no node; null when unknown"),
        Column("kip_1102", "boolean", "It bootstraps again when it is told to (error 129); null when unknown"),
        _KIP_1242,
    ),
)
INSTANCES: Final = Table(
    "instances",
    "A row for each client instance that pushed its metrics (KIP-714)",
    (
        *_CLIENT,
        *_ADDRESS,
        Column("client_instance_id", "string", "Its KIP-714 id, as its own log has it"),
        Column("first_seen", "timestamp", "When kproxy got its first push"),
        Column("last_seen", "timestamp", "When kproxy got its last push"),
        Column("terminated", "boolean", "Its last push said that it was closed"),
        Column("clock_ahead", "double", "Seconds by which its clock was ahead, at the last push"),
    ),
)
TRAFFIC: Final = Table(
    "traffic",
    "A row for each client, node and hour: what passed between two looks at its connections, in the hour of the second",
    (
        Column("date", "date", "Partition: the UTC day of `hour`"),
        Column("hour", "timestamp", "The beginning of the hour"),
        *_CLIENT,
        *_ADDRESS,
        Column("node", "bigint", "The node that the connections are for; null at the bootstrap port"),
        Column("connections", "bigint", "How many connections were seen"),
        *_PASSED,
    ),
)
TOPOLOGY: Final = Table(
    "topology",
    "A row for each change of the topology behind kproxy",
    (
        Column("date", "date", "Partition: the UTC day of `at`"),
        Column("at", "timestamp", "When it happened"),
        Column("event", "string", "What happened"),
        Column("proxy", "string", "Which kproxy"),
        Column("cluster", "string", "The virtual cluster"),
        Column("cluster_id", "string", "The id of the cluster in Kafka, where it changed"),
        Column("added", "array<bigint>", "Ids of nodes that are new"),
        Column("gone", "array<bigint>", "Ids of nodes that are there no more"),
        Column("moved", "array<bigint>", "Ids of nodes that are elsewhere"),
        Column("cause", "string", "Why the epoch rose"),
        Column("epoch", "bigint", "The number of the topology from then on"),
        Column("connections", "bigint", "How many connections were notified or closed"),
        Column("upstream", "string", "The active upstream cluster, by its name"),
        Column("previous_upstream", "string", "The one before, where it changed"),
        Column("candidate", "string", "One that could not take over, or is another cluster than before"),
        Column("detail", "string", "Why not"),
    ),
)
ERRORS_BY_CLASS: Final = Table(
    "errors_by_class",
    "A row for each hour, client, API, error and topic or group: errors that are not retriable (KIP-1050)",
    (
        Column("date", "date", "Partition: the UTC day of `hour`"),
        Column("hour", "timestamp", "The beginning of the hour"),
        *_CLIENT,
        Column("api", "string", "The API that was asked, as Produce"),
        Column("error_code", "bigint", "The code of the error in Kafka"),
        Column("error", "string", "Its name"),
        Column("error_class", "string", "Its class (KIP-1050)"),
        Column("topic", "string", "The topic that it is about, where that is known"),
        Column("group", "string", "The group that it is about, where that is known"),
        Column("errors", "bigint", "How many, with those whose events kproxy left out"),
        Column("first_at", "timestamp", "The first one"),
        Column("last_at", "timestamp", "The last one"),
    ),
)
GROUP_REBALANCES: Final = Table(
    "group_rebalances",
    "A row for each rebalance of a hosted group",
    (
        Column("date", "date", "Partition: the UTC day of `began`"),
        Column("proxy", "string", "Which kproxy"),
        Column("cluster", "string", "The virtual cluster"),
        Column("group", "string", "The id of the group"),
        Column("generation", "bigint", "The generation that it led to; null while it lasts"),
        Column("began", "timestamp", "When the group was no longer stable"),
        Column("ended", "timestamp", "When it was stable again, or had no member; null while it lasts"),
        Column("seconds", "double", "How long it took"),
        Column("cause", "string", "Why it began, as member_joined, member_left, session_timeout, metadata_changed"),
        Column("client_id", "string", "client.id of the member that caused it"),
        Column("members", "bigint", "How many members the group had in the end"),
        Column("waited_for", "array<string>", "client.id of the members that the others waited for"),
        Column("late", "string", "client.id of the one that joined last"),
    ),
)


def _rollup(name: str, unit: str) -> Table:
    return Table(
        name,
        f"A row for each metric of a client and {unit}: of all its instances and labels",
        (
            Column("date", "date", f"Partition: the UTC day of `{unit}`"),
            Column(unit, "timestamp", f"The beginning of the {unit}, by the clock of the client"),
            *_CLIENT,
            Column("metric", "string", "The name"),
            Column("type", "string", "gauge, sum, histogram, exponential_histogram or summary"),
            Column("points", "bigint", "How many data points"),
            Column("instances", "binary", "Which instances: an HLL sketch, for hll_sketch_estimate and hll_union_agg"),
            Column("delta", "double", "Of delta sums: by how much all of them rose"),
            Column("sum", "double", "The sum of all values; of distributions, of what they counted"),
            Column("count", "bigint", "How many values; of distributions, how many they counted, null beyond 2^63"),
            Column("min", "double", "The least value; null for distributions"),
            Column("max", "double", "The largest value; null for distributions"),
            Column(
                "sketch",
                "map<int,bigint>",
                "How many values by logarithmic bucket: sketches add up, and quantiles are exact to 1 %; "
                "docs/pipeline.md says how to read them",
            ),
        ),
    )


ROLLUP_1M: Final = _rollup("rollup_1m", "minute")
ROLLUP_1H: Final = _rollup("rollup_1h", "hour")
FINDINGS: Final = Table(
    "findings",
    "A row for each finding of `kproxy pipeline findings`",
    (
        Column("date", "date", "Partition: the UTC day of `found_at`"),
        Column("found_at", "timestamp", "When the rules were applied"),
        Column("since", "timestamp", "The beginning of the time that they looked at"),
        Column("until", "timestamp", "Its end"),
        Column("rule", "string", "The name of the rule"),
        Column("severity", "string", "critical, warning or info"),
        Column("cluster", "string", "The virtual cluster"),
        Column(
            "subject",
            "string",
            "What it is about: a client.id, a group, the id of a broker, software with its version, a kproxy",
        ),
        Column("kind", "string", "What the subject is: client, group, broker, version or proxy"),
        Column("reason", "string", "What was found, in one sentence with its figures"),
        Column("advice", "string", "What to do"),
        Column("evidence", "string", "The row of the evidence query, as JSON"),
        Column("query", "string", "The evidence query, which runs in Spark SQL as it is"),
    ),
)
BASE: Final = (POINTS, PUSHES, EVENTS, QUARANTINE)
"""A row for each thing that kproxy wrote."""
DERIVED: Final = (
    *(CONNECTIONS, CLIENTS, INSTANCES, TRAFFIC, TOPOLOGY),
    *(ERRORS_BY_CLASS, GROUP_REBALANCES, ROLLUP_1M, ROLLUP_1H),
)
"""Made of the base tables, again where these have grown."""
TABLES: Final[Mapping[str, Table]] = MappingProxyType({table.name: table for table in (*BASE, *DERIVED, FINDINGS)})
