"""Rebalances of hosted groups: which groups, when, why, and how long they took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from kproxy.pipeline.findings import sql
from kproxy.pipeline.report.sections.shapes import Listing, Question, Row, Scope, listing

_SLOTS: Final = 120
"""Parts of the window; rebalances of a group that begin in the same one are shown as one bar."""


@dataclass(frozen=True, slots=True)
class Group:
    """A group, and its rebalances that began in the window."""

    cluster: str | None
    group: str | None
    rebalances: int
    seconds: float
    """That all of them took."""
    longest: float | None
    unended: int
    """Those of which no event says that they ended."""
    cause: str | None
    """The most frequent one."""
    client_id: str | None
    """Of the member that caused most."""
    late: str | None
    """client.id of the member that was most often the last to join."""


@dataclass(frozen=True, slots=True)
class Spell:
    """Rebalances of a group that began one soon after the other."""

    cluster: str | None
    group: str | None
    began: datetime
    ended: datetime | None
    """None when one of them has not ended."""
    rebalances: int
    cause: str | None
    """The most frequent one."""
    longest: float | None
    """Seconds."""


_GROUPS: Final = f"""of_window AS (
  SELECT * FROM group_rebalances WHERE {sql.within("began")}
), ranked AS (
  SELECT cluster, `group`, count(*) AS rebalances, coalesce(sum(seconds), 0) AS seconds, max(seconds) AS longest,
    count_if(ended IS NULL) AS unended, mode(cause) AS cause, mode(client_id) AS client_id, mode(late) AS late,
    count(*) OVER () AS total
  FROM of_window GROUP BY cluster, `group` ORDER BY rebalances DESC, seconds DESC, cluster, `group` LIMIT :rows
)"""
GROUPS: Final[Question[Listing[Group]]] = Question(f"WITH {_GROUPS} SELECT * FROM ranked", listing(Group))


def spells(since: datetime, until: datetime) -> Question[tuple[Spell, ...]]:
    """Ask for the bars of the groups that rebalance most."""
    slot = max((until - since) // timedelta(microseconds=1) // _SLOTS, 1)
    return Question(
        f"""
WITH {_GROUPS}
SELECT one.cluster, one.`group`, min(one.began) AS began,
  IF(count_if(one.ended IS NULL) > 0, NULL, max(one.ended)) AS ended, count(*) AS rebalances, mode(one.cause) AS cause,
  max(one.seconds) AS longest
FROM of_window AS one JOIN ranked ON one.cluster <=> ranked.cluster AND one.`group` <=> ranked.`group`
GROUP BY one.cluster, one.`group`, (unix_micros(one.began) - unix_micros(:since)) div {slot}
ORDER BY began
""",
        _spells,
    )


def _spells(rows: Sequence[Row], _: Scope) -> tuple[Spell, ...]:
    return tuple(Spell(**row) for row in rows)
