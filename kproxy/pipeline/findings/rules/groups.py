"""Groups, by their rebalances."""

from __future__ import annotations

from typing import Final

from kproxy.pipeline.findings import sql
from kproxy.pipeline.findings.rule import Limit, Rule

_STORM: Final = Rule(
    name="rebalance-storm",
    help="A group rebalances again and again",
    kind="group",
    severity="warning",
    needs=(),
    limits=(
        Limit("an_hour", 10, "rebalances in one hour"),
        Limit("severe", 60, "rebalances in one hour: critical"),
    ),
    query=f"""
WITH rebalances AS (
  SELECT *, date_trunc('HOUR', began) AS hour FROM group_rebalances WHERE {sql.within("began")}
), by_hour AS (
  SELECT cluster, `group`, hour, count(*) AS in_hour FROM rebalances GROUP BY ALL
), storms AS (
  SELECT cluster, `group`, max(in_hour) AS most, max_by(hour, in_hour) AS worst_hour, sum(in_hour) AS rebalances,
    count_if(in_hour >= :an_hour) AS hours
  FROM by_hour GROUP BY cluster, `group`
), why AS (
  SELECT cluster, `group`, coalesce(mode(cause), 'unknown') AS cause, coalesce(mode(client_id), 'unknown') AS by_client,
    sum(seconds) AS seconds, median(seconds) AS median_seconds, max(members) AS members
  FROM rebalances GROUP BY cluster, `group`
), fleet AS (
  SELECT cluster, median(most) AS usual, count(*) AS fleet_members FROM storms GROUP BY cluster
)
SELECT cluster, `group` AS subject, most, worst_hour, rebalances, hours, cause, by_client,
  coalesce(seconds, 0) AS seconds,
  median_seconds, members, usual AS usual_most, fleet_members, if(most >= :severe, 'critical', 'warning') AS severity
FROM storms JOIN why USING (cluster, `group`) JOIN fleet USING (cluster)
WHERE most >= :an_hour
""",
    reason="It began {rebalances} rebalances, {most} of them in the hour from {worst_hour:%H:%M}; they took "
    "{seconds:.0f} s, mostly for {cause}, most often by {by_client}; the usual of {fleet_members} groups is "
    "{usual_most:.0f} in an hour",
    advice="session_timeout: the member stalls, or its heartbeats do; member_left and member_joined: it restarts, so "
    "look at its log, and use static membership (group.instance.id); metadata_changed: partitions are added or "
    "topics match anew",
)
_LATE: Final = Rule(
    name="rebalance-waits-for-member",
    help="Slow rebalances of a group mostly wait for the same member",
    kind="group",
    severity="warning",
    needs=(Limit("slow", 3, "slow rebalances"),),
    limits=(
        Limit("seconds", 10, "seconds that a slow rebalance takes"),
        Limit("part", 0.1, "share of the group's rebalances that are slow"),
        Limit("share", 0.6, "share of them in which this member was the last to join"),
    ),
    query=f"""
WITH rebalances AS (
  SELECT cluster, `group`, seconds, late FROM group_rebalances WHERE {sql.within("began")} AND seconds IS NOT NULL
), slow AS (
  SELECT cluster, `group`, late, count(*) AS waits, median(seconds) AS median_seconds, max(seconds) AS longest
  FROM rebalances WHERE seconds >= :seconds AND late IS NOT NULL GROUP BY ALL
), every AS (
  SELECT cluster, `group`, count(*) AS rebalances,
    count_if(seconds >= :seconds) AS slow_ones FROM rebalances GROUP BY ALL
), latest AS (
  SELECT *, row_number() OVER (PARTITION BY cluster, `group` ORDER BY waits DESC, late) AS number FROM slow
), usually AS (
  SELECT cluster, median(seconds) AS usual FROM rebalances GROUP BY cluster
)
SELECT cluster, `group` AS subject, late, waits, slow_ones, rebalances, median_seconds, longest, usual AS usual_seconds
FROM latest JOIN every USING (cluster, `group`) JOIN usually USING (cluster)
WHERE number = 1 AND slow_ones >= :slow AND slow_ones >= :part * rebalances AND waits >= :share * slow_ones
""",
    reason="{waits} of its {slow_ones} slow rebalances ({rebalances} in all) waited for {late}, {median_seconds:.0f} "
    "s in the median; the median of all groups is {usual_seconds:.1f} s",
    advice="Look at what this member does between two polls: it joins again only when it polls; lower its "
    "max.poll.records, or move its work to a thread",
)
RULES: Final = (_STORM, _LATE)
