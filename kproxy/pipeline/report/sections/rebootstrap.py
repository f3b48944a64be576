"""What brings clients back when all brokers that they know are gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kproxy.pipeline.report.sections.shapes import Listing, Question, Row, Scope, listing


@dataclass(frozen=True, slots=True)
class Abilities:
    """How many clients, by client.id and virtual cluster, there are of each kind."""

    told: int = 0
    """They bootstrap again when they are told to (error 129, KIP-1102)."""
    alone: int = 0
    """They bootstrap again once they reach no broker (KIP-899)."""
    unknown: int = 0
    cannot: int = 0
    """They stay away until they are restarted."""


# Of a client that was upgraded, the rows of its old version are older than the newest one by more than an hour.
_SEEN: Final = """seen AS (
  SELECT *, max(last_seen) OVER (PARTITION BY cluster, client_id) AS newest
  FROM clients WHERE last_seen >= :since AND first_seen < :until
), now AS (
  SELECT * FROM seen WHERE last_seen >= newest - INTERVAL 1 HOUR
)"""


def _abilities(rows: Sequence[Row], _: Scope) -> Abilities:
    return Abilities(**{row["ability"]: row["amount"] for row in rows})


ABILITIES: Final[Question[Abilities]] = Question(
    f"""
WITH {_SEEN}, judged AS (
  SELECT cluster, client_id,
    CASE WHEN bool_or(rebootstrap = 'no') THEN 'cannot' WHEN bool_or(rebootstrap = 'kip-899') THEN 'alone'
      WHEN bool_or(rebootstrap = '129') THEN 'told' ELSE 'unknown' END AS ability
  FROM now GROUP BY cluster, client_id
)
SELECT ability, count(*) AS amount FROM judged GROUP BY ability
""",
    _abilities,
)


@dataclass(frozen=True, slots=True)
class Stranded:
    """A client that stays away until it is restarted."""

    cluster: str | None
    client_id: str | None
    software: str | None
    version: str | None
    addresses: int
    last_seen: datetime


CANNOT: Final[Question[Listing[Stranded]]] = Question(
    f"""
WITH {_SEEN}
SELECT cluster, client_id, mode(software_name) AS software, mode(software_version) AS version,
  count(DISTINCT address) AS addresses, max(last_seen) AS last_seen, count(*) OVER () AS total
FROM now WHERE rebootstrap = 'no' GROUP BY cluster, client_id
ORDER BY addresses DESC, cluster, client_id LIMIT :rows
""",
    listing(Stranded),
)
