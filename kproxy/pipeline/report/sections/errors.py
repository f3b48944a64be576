"""Errors that clients got and do not just repeat, by their class (KIP-1050)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kproxy.pipeline.findings import sql
from kproxy.pipeline.report.sections.shapes import (
    TOP_SERIES,
    Listing,
    OverTime,
    Question,
    bucket,
    listing,
    stacked,
)

OVER_TIME: Final[Question[OverTime]] = Question(
    f"""
WITH counted AS (
  SELECT {bucket("hour", ":hour_step")} AS bucket, coalesce(error_class, 'unknown class') AS name,
    sum(errors) AS amount
  FROM errors_by_class WHERE {sql.within("hour", "HOUR")} GROUP BY ALL
), {TOP_SERIES}
""",
    lambda rows, scope: stacked(rows, scope.hourly),
)


@dataclass(frozen=True, slots=True)
class Error:
    """An error that an API answered."""

    error_class: str | None
    error: str | None
    api: str | None
    errors: int
    clients: int
    """By client.id and virtual cluster."""
    mostly: str | None
    """client.id of the client that got most of them."""
    last_at: datetime


MOST: Final[Question[Listing[Error]]] = Question(
    f"""
WITH by_client AS (
  SELECT error_class, error, api, cluster, client_id, sum(errors) AS amount, max(last_at) AS last_at
  FROM errors_by_class WHERE {sql.within("hour", "HOUR")} GROUP BY ALL
), grouped AS (
  SELECT error_class, error, api, sum(amount) AS errors, count(*) AS clients, max_by(client_id, amount) AS mostly,
    max(last_at) AS last_at
  FROM by_client GROUP BY error_class, error, api
)
SELECT *, count(*) OVER () AS total FROM grouped ORDER BY errors DESC, error, api LIMIT :rows
""",
    listing(Error),
)
