"""Which software, in which versions, is there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kproxy.pipeline.findings import sql
from kproxy.pipeline.report.sections.shapes import TOP_SERIES, Listing, OverTime, Question, bucket, listing, stacked

UNKNOWN: Final = "unknown software"

# A client is there in a bucket when a connection of its is open in it, or when it pushes. The last instant of the
# window is before `until`.
OVER_TIME: Final[Question[OverTime]] = Question(
    f"""
WITH spans AS (
  SELECT cluster, client_id, software_name, software_version, greatest(since, :since) AS began,
    least(coalesce(ended, last_seen), :until - INTERVAL 1 MICROSECOND) AS ended
  FROM connections WHERE since < :until AND coalesce(ended, last_seen) >= :since
), seen AS (
  SELECT cluster, client_id, software_name, software_version,
    explode(sequence({bucket("began")}, {bucket("greatest(began, ended)")})) AS bucket
  FROM spans
  UNION
  SELECT cluster, client_id, software_name, software_version, {bucket("received_at")} AS bucket
  FROM pushes WHERE {sql.within("received_at")}
), named AS (
  SELECT DISTINCT bucket, cluster, client_id,
    concat_ws(' ', coalesce(software_name, '{UNKNOWN}'), software_version) AS name
  FROM seen
), counted AS (
  SELECT bucket, name, count(*) AS amount FROM named GROUP BY ALL
), {TOP_SERIES}
""",
    lambda rows, scope: stacked(rows, scope.fine),
)


@dataclass(frozen=True, slots=True)
class Version:
    """Software in one version."""

    software: str | None
    version: str | None
    clients: int
    """By client.id and virtual cluster."""
    pushing: int
    """Those of them that push their metrics (KIP-714)."""
    addresses: int
    last_seen: datetime


VERSIONS: Final[Question[Listing[Version]]] = Question(
    """
WITH grouped AS (
  SELECT software_name AS software, software_version AS version,
    count(DISTINCT struct(cluster, client_id)) AS clients,
    count(DISTINCT IF(kip_714, struct(cluster, client_id), NULL)) AS pushing,
    count(DISTINCT address) AS addresses, max(last_seen) AS last_seen
  FROM clients WHERE last_seen >= :since AND first_seen < :until GROUP BY software_name, software_version
)
SELECT *, count(*) OVER () AS total FROM grouped ORDER BY clients DESC, software, version LIMIT :rows
""",
    listing(Version),
)
