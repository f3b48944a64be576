"""How long producers and consumers wait, by their own metrics, from the sketches of the rollups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kproxy.pipeline.findings.rules.producers import LATENCY, NODE_LATENCY
from kproxy.pipeline.report.sections.shapes import (
    Listing,
    OverTime,
    Question,
    Row,
    Scope,
    Series,
    bucket,
    listing,
    rollup,
)
from kproxy.pipeline.report.timeline import HOUR

FETCH: Final = "org.apache.kafka.consumer.fetch.manager.fetch.latency.avg"
_KINDS: Final = {LATENCY: "producer requests", FETCH: "consumer fetches"}
_QUANTILES: Final = {"p50": 0.5, "p99": 0.99}


@dataclass(frozen=True, slots=True)
class Latency:
    """Quantiles, in milliseconds, of the averages that clients push."""

    kind: str
    averages: int
    """How many averages they are of."""
    over_time: OverTime


@dataclass(frozen=True, slots=True)
class SlowClient:
    """A client and its latency in milliseconds."""

    cluster: str | None
    client_id: str | None
    kind: str
    averages: int
    p50: float
    p99: float


def _sketches(table: str, time: str, condition: str) -> str:
    """`sketches`: those of the two metrics. Clients that tell of their brokers only stand with that."""
    return f"""told AS (
  SELECT {bucket(time)} AS bucket, cluster, client_id, metric, sketch FROM {table}
  WHERE {condition} AND metric IN ('{LATENCY}', '{NODE_LATENCY}', '{FETCH}')
), whole AS (
  SELECT DISTINCT cluster, client_id, true AS known FROM told WHERE metric = '{LATENCY}'
), sketches AS (
  SELECT bucket, told.cluster, told.client_id, IF(metric = '{FETCH}', metric, '{LATENCY}') AS kind, sketch
  FROM told LEFT JOIN whole ON told.cluster <=> whole.cluster AND told.client_id <=> whole.client_id
  WHERE metric != '{NODE_LATENCY}' OR known IS NULL
)"""


def _quantiles(by: str) -> str:
    """`quantiles`: of the sketches' sums, each within 1 % (kproxy.pipeline.derived.rollups says why)."""
    wanted = ", ".join(
        f"min(latency) FILTER (WHERE up_to >= {share}D * averages) AS {name}" for name, share in _QUANTILES.items()
    )
    return f"""buckets AS (
  SELECT {by}, b, sum(n) AS n FROM sketches LATERAL VIEW explode(sketch) AS b, n GROUP BY {by}, b
), summed AS (
  SELECT {by}, IF(b = -2147483648, 0D, least(2 * pow(1.02D, b) / 2.02D, 1e300D)) AS latency,
    sum(n) OVER (PARTITION BY {by} ORDER BY b) AS up_to, sum(n) OVER (PARTITION BY {by}) AS averages
  FROM buckets
), quantiles AS (
  SELECT {by}, any_value(averages) AS averages, {wanted} FROM summed GROUP BY {by}
)"""


def over_time(step: int) -> Question[tuple[Latency, ...]]:
    """Ask for the latency by bucket of `step` seconds."""
    parts = f"WITH {_sketches(*rollup(step))}, {_quantiles('bucket, kind')}"
    return Question(f"{parts} SELECT bucket, kind, averages, p50, p99 FROM quantiles", _latencies)


def _latencies(rows: Sequence[Row], scope: Scope) -> tuple[Latency, ...]:
    return tuple(
        _latency(name, of_kind, scope)
        for metric, name in _KINDS.items()
        if (of_kind := {row["bucket"]: row for row in rows if row["kind"] == metric})
    )


def _latency(name: str, rows: dict[int, Row], scope: Scope) -> Latency:
    numbers, nothing = scope.fine.numbers, dict.fromkeys(_QUANTILES)
    series = tuple(
        Series(quantile, tuple(rows.get(number, nothing)[quantile] for number in numbers)) for quantile in _QUANTILES
    )
    over_time = OverTime(scope.fine.step, scope.fine.starts, series)
    return Latency(name, sum(row["averages"] for row in rows.values()), over_time)


SLOWEST: Final[Question[Listing[SlowClient]]] = Question(
    f"""
WITH {_sketches(*rollup(HOUR))}, {_quantiles("cluster, client_id, kind")}
SELECT cluster, client_id, CASE kind {" ".join(f"WHEN '{metric}' THEN '{name}'" for metric, name in _KINDS.items())} END
  AS kind, averages, p50, p99, count(*) OVER () AS total
FROM quantiles ORDER BY p99 DESC, client_id LIMIT :rows
""",
    listing(SlowClient),
)
