"""Connections that came and went: how long they lasted, and who makes short ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kproxy.pipeline.findings import sql
from kproxy.pipeline.report.sections.shapes import Listing, Question, Row, Scope, listing

SHORT: Final = 60
"""Seconds below which a connection is short, as the rule connection-churn has it."""
BOUNDS: Final = {
    "< 1 s": 1,
    "1–10 s": 10,
    "10–60 s": 60,
    "1–10 min": 600,
    "10–60 min": 3600,
    "1–6 h": 6 * 3600,
    "6–24 h": 24 * 3600,
    "> 24 h": None,
}
"""By name, the seconds below which a connection is in the bar."""


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Connections by how long they lasted, of those that ended in the window."""

    opened: int
    ended: int
    open: int
    """At the end of the window, as far as events tell."""
    by_lifetime: dict[str, int]
    """By the names of `BOUNDS`."""


def _lifetimes(rows: Sequence[Row], _: Scope) -> Lifetimes:
    counted = dict(rows[0])
    by_lifetime = {name: counted[f"bar_{number}"] for number, name in enumerate(BOUNDS)}
    return Lifetimes(counted["opened"], counted["ended"], counted["still_open"], by_lifetime)


def _bars() -> str:
    bounds = [0, *(bound for bound in BOUNDS.values() if bound is not None)]
    upper = [f"AND seconds < {bound}" for bound in bounds[1:]] + [""]
    every = zip(bounds, upper, strict=True)
    return ", ".join(
        f"count_if(over AND seconds >= {bound} {below}) AS bar_{number}" for number, (bound, below) in enumerate(every)
    )


LIFETIMES: Final[Question[Lifetimes]] = Question(
    f"""
WITH marked AS (
  SELECT since >= :since AS fresh, ended >= :since AND ended < :until AS over,
    ended IS NULL OR ended >= :until AS still_there, greatest(seconds, 0D) AS seconds
  FROM connections WHERE since < :until AND coalesce(ended, last_seen) >= :since
)
SELECT count_if(fresh) AS opened, count_if(over) AS ended, count_if(still_there) AS still_open, {_bars()} FROM marked
""",
    _lifetimes,
)


@dataclass(frozen=True, slots=True)
class Churner:
    """A client that opened short connections."""

    cluster: str | None
    client_id: str | None
    short: int
    """Shorter than `SHORT` seconds."""
    opened: int
    median_seconds: float | None
    mostly: str | None
    """Why most of the short ones ended."""


CHURNERS: Final[Question[Listing[Churner]]] = Question(
    f"""
WITH by_client AS (
  SELECT cluster, client_id, count_if(seconds < {SHORT}) AS short, count(*) AS opened,
    median(seconds) FILTER (WHERE seconds < {SHORT}) AS median_seconds,
    mode(reason) FILTER (WHERE seconds < {SHORT}) AS mostly
  FROM connections WHERE {sql.within("since")}
  GROUP BY cluster, client_id
)
SELECT *, count(*) OVER () AS total FROM by_client WHERE short > 0
ORDER BY short DESC, cluster, client_id LIMIT :rows
""",
    listing(Churner),
)
