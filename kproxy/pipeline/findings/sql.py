"""Pieces of SQL that several rules share: robust statistics, and the parts of the time that is looked at.

All are common table expressions, or conditions, as text. Medians, and deviations that are made of medians, hold when up
to half of all values are outliers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kproxy.pipeline.findings.rule import Limit

PAST_POINTS: Final = Limit("past_points", 20, "data points in the first half of the subject's time")
RECENT_POINTS: Final = Limit("recent_points", 10, "data points in its last quarter")
MINUTES: Final = Limit("minutes", 30, "minutes from its first to its last point")
TREND_NEEDS: Final = (PAST_POINTS, RECENT_POINTS, MINUTES)
ENOUGH: Final = "past_points >= :past_points AND recent_points >= :recent_points AND minutes >= :minutes"
"""The condition of `TREND_NEEDS` on a row of `trend`."""
_OF_MAD: Final = 1.4826
"""Times this, the median absolute deviation of normal values is their standard deviation."""
_OF_STEPS: Final = 1.0483
"""The same for the median step between two of them."""
DEVIATIONS: Final = Limit("deviations", 5, "robust standard deviations beyond what is usual")
MEMBERS: Final = Limit("members", 5, "subjects that a fleet must have for a comparison with it")
NODE: Final = (
    "try_cast(regexp_extract(coalesce(labels['node_id'], labels['node.id']), '^(?:node-)?([0-9]+)$', 1) AS bigint)"
)
"""The broker of a point: node-1 of Java, 1 of others. A seed or a coordinator of Java has another form,
  or a huge number."""
NO_BROKER: Final = 1_000_000_000
"""From here on ids are those by which clients name their coordinators."""
IS_BROKER: Final = f"{NODE} < {NO_BROKER}"


def within(column: str, unit: str | None = None) -> str:
    """Return the condition that a time is in the window, in a table whose partition is the day of this column.

    With a unit, as "HOUR", the time is the beginning of an hour, and the hour touches the window.
    """
    begin = ":since" if unit is None else f"date_trunc('{unit}', :since)"
    return f"date BETWEEN to_date(:since) AND to_date(:until) AND {column} >= {begin} AND {column} < :until"


def values(rows: Iterable[tuple[str, ...]]) -> str:
    """Return rows of texts for VALUES."""
    return ", ".join(map(str, rows))


def one_of(column: str, names: Iterable[str]) -> str:
    """Return the condition that a text is one of `names`."""
    return f"{column} IN ({', '.join(repr(name) for name in names)})"


def gauges(metrics: Iterable[str], value: str = "value", subject: str = "client_id", condition: str = "true") -> str:
    """`samples` for `trend`: the points of some metrics, each with the weight 1."""
    return f"""samples AS (
  SELECT cluster, {subject} AS subject, client_instance_id AS instance, received_at AS at, {value} AS value, 1 AS weight
  FROM points
  WHERE {within("received_at")} AND {one_of("metric", metrics)} AND value IS NOT NULL AND {condition}
)"""


def trend(by: str = "cluster, subject") -> str:
    """`trend`: how the values of `samples` in the last quarter differ from those in the first half.

    The time is the subject's own, from its first to its last sample, so an hour of data tells as much in a window of an
    hour as in one of a week. Medians pass over outliers; means do not. `noise` is the standard deviation as it follows
    from the median of the steps between two samples: values that rise steadily are no noise.
    """
    return f"""placed AS (
  SELECT *, unix_millis(at) - min(unix_millis(at)) OVER (PARTITION BY {by}) AS millis,
    max(unix_millis(at)) OVER (PARTITION BY {by}) - min(unix_millis(at)) OVER (PARTITION BY {by}) AS span,
    abs(value - lag(value) OVER (PARTITION BY {by}, instance ORDER BY at)) AS step
  FROM samples
), parted AS (
  SELECT *, CASE WHEN millis < span * 0.5D THEN value END AS past_value,
    CASE WHEN millis < span * 0.5D THEN step END AS past_step,
    CASE WHEN millis >= span * 0.5D AND millis < span * 0.75D THEN value END AS middle_value,
    CASE WHEN millis >= span * 0.75D THEN value END AS recent_value
  FROM placed
), trend AS (
  SELECT {by}, median(past_value) AS past, median(middle_value) AS middle, median(recent_value) AS recent,
    {_OF_STEPS}D * coalesce(median(past_step), 0) AS noise,
    avg(past_value) AS past_mean, avg(recent_value) AS recent_mean,
    count(past_value) AS past_points, count(recent_value) AS recent_points,
    count_if(recent_value > 0) AS recent_positive,
    coalesce(sum(weight) FILTER (WHERE recent_value IS NOT NULL), 0) AS recent_weight,
    count(DISTINCT instance) AS instances, min(at) FILTER (WHERE recent_value IS NOT NULL) AS recent_from,
    max(at) AS last_at, any_value(span) / 60000D AS minutes
  FROM parted GROUP BY {by}
)"""


def fleet(source: str, value: str, enough: str = "true", by: str = "cluster", name: str = "fleet") -> str:
    """`fleet`, or another name: by cluster, or more, the median of an expression over the rows of `source`.

    Beside it are its `spread`, and of how many rows it is.
    """
    return f"""{name} AS (
  SELECT {by}, any_value(center) AS usual, {_OF_MAD}D * median(abs(own - center)) AS spread,
    count(*) AS fleet_members
  FROM (
    SELECT {by}, own, median(own) OVER (PARTITION BY {by}) AS center
    FROM (SELECT {by}, {value} AS own FROM {source} WHERE {enough})
  ) GROUP BY {by}
)"""


def beyond_fleet(value: str, floor: float) -> str:
    """Return the condition that a value is above the usual of its fleet; `floor` is the least spread to assume."""
    return f"{value} > usual + :deviations * greatest(spread, {floor}D)"


def beyond_past(floor: str) -> str:
    """Return the condition that `recent` is above the subject's own past; `floor` is the least noise to assume."""
    return f"recent - past > :deviations * greatest(noise, {floor})"
