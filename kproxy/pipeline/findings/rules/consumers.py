"""Consumers by their own metrics (KIP-714): lag, polls and rebalances.

Java pushes all of these; librdkafka the idle ratio of polls.
"""

from __future__ import annotations

from typing import Final

from kproxy.pipeline.findings import sql
from kproxy.pipeline.findings.rule import Limit, Rule

LAG: Final = "org.apache.kafka.consumer.fetch.manager.records.lag.max"
BETWEEN_POLLS: Final = "org.apache.kafka.consumer.time.between.poll.max"
CONSUMED: Final = "org.apache.kafka.consumer.fetch.manager.records.consumed.total"
SINCE_POLL: Final = "org.apache.kafka.consumer.last.poll.seconds.ago"
IDLE: Final = "org.apache.kafka.consumer.poll.idle.ratio.avg"
REBALANCES: Final = "org.apache.kafka.consumer.coordinator.rebalance.total"

_GROWING_LAG: Final = Rule(
    name="consumer-lag-growing",
    help="An instance of a consumer falls behind: its largest lag only grows",
    kind="client",
    severity="warning",
    needs=sql.TREND_NEEDS,
    limits=(
        Limit("times", 2, "times the lag before"),
        Limit("least", 1000, "records more than before"),
        Limit("seconds", 10, "seconds that it takes to read so many records, where that is known"),
        sql.DEVIATIONS,
    ),
    # Who reads more in the evening has more under way. The weight of a sample is what was read. Java pushes that twice
    # under one name: of all topics, and of each.
    query=f"""
WITH samples AS (
  SELECT cluster, client_id AS subject, client_instance_id AS instance, received_at AS at,
    max(value) FILTER (WHERE metric = '{LAG}') AS value,
    coalesce(
      sum(value) FILTER (WHERE metric = '{CONSUMED}' AND temporality = 'delta' AND labels['topic'] IS NULL),
      sum(value) FILTER (WHERE metric = '{CONSUMED}' AND temporality = 'delta'), 0) AS weight
  FROM points
  WHERE {sql.within("received_at")} AND {sql.one_of("metric", (LAG, CONSUMED))} AND value IS NOT NULL
  GROUP BY ALL
), {sql.trend("cluster, subject, instance")}, behind AS (
  SELECT *, (recent - past) / (minutes / 60D * 0.625D) AS by_hour, recent_weight / (minutes * 15D) AS by_second,
    row_number() OVER (PARTITION BY cluster, subject ORDER BY recent DESC) AS number,
    count(*) OVER (PARTITION BY cluster, subject) AS instances_behind
  FROM trend
  WHERE {sql.ENOUGH} AND recent >= :times * past AND recent - past >= :least AND middle >= past AND recent >= middle
    AND recent >= :seconds * recent_weight / (minutes * 15D) AND {sql.beyond_past("0.05D * past")}
)
SELECT cluster, subject, instance AS client_instance_id, past, middle, recent, by_hour, by_second, instances_behind,
  recent_from, noise, past_points, recent_points
FROM behind WHERE number = 1
""",
    reason="Its lag grew from {past:.0f} to {recent:.0f} records, by some {by_hour:.0f} an hour; {instances_behind} "
    "of its instances fall behind",
    advice="Look at how long it takes for a record (rule consumer-saturated), and add members up to the number of "
    "partitions; make sure that the records will not be deleted before they are read",
)
_POLL_LIMIT: Final = Rule(
    name="consumer-poll-near-limit",
    help="The time between two polls comes near to max.poll.interval.ms, beyond which the member loses its partitions",
    kind="client",
    severity="warning",
    needs=(Limit("pushes", 3, "pushes that tell so"),),
    limits=(
        Limit("interval", 300, "seconds: max.poll.interval.ms, as it is unless the client sets another"),
        Limit("share", 0.7, "share of it that is near"),
    ),
    query=f"""
WITH polls AS (
  SELECT cluster, client_id AS subject, client_instance_id, received_at,
    max(CASE WHEN metric = '{BETWEEN_POLLS}' THEN value / 1000D ELSE value END) AS seconds
  FROM points
  WHERE {sql.within("received_at")} AND {sql.one_of("metric", (BETWEEN_POLLS, SINCE_POLL))} AND value IS NOT NULL
  GROUP BY ALL
), near AS (
  SELECT cluster, subject, count_if(seconds >= :share * :interval) AS pushes_near,
    count_if(seconds >= :interval) AS beyond,
    count(*) AS pushes_seen, max(seconds) AS longest, median(seconds) AS usual_seconds,
    count(DISTINCT client_instance_id) FILTER (WHERE seconds >= :share * :interval) AS instances_near,
    min(received_at) FILTER (WHERE seconds >= :share * :interval) AS first_at,
    max(received_at) FILTER (WHERE seconds >= :share * :interval) AS last_at
  FROM polls GROUP BY cluster, subject
)
SELECT *, CASE WHEN beyond >= :pushes THEN 'critical' ELSE 'warning' END AS severity
FROM near WHERE pushes_near >= :pushes
""",
    reason="Up to {longest:.0f} s pass between its polls, and {interval:.0f} s is the limit; {pushes_near} of "
    "{pushes_seen} pushes tell of more than {share:.0%} of it, {beyond} of more than all",
    advice="Lower max.poll.records, or do less between two polls; raise max.poll.interval.ms if that work must take "
    "so long",
)
_SATURATED: Final = Rule(
    name="consumer-saturated",
    help="A consumer that used to wait for records now hardly ever does: its own work takes all its time",
    kind="client",
    severity="info",
    needs=(*sql.TREND_NEEDS, sql.MEMBERS),
    limits=(
        Limit("busy", 0.1, "share of its time in which it waits for records, at most"),
        Limit("idle", 0.3, "that share before, at least"),
        sql.DEVIATIONS,
    ),
    query=f"""
WITH {sql.gauges((IDLE,))}, {sql.trend()},
{sql.fleet("trend", "past - recent", sql.ENOUGH)}
SELECT cluster, subject, past, recent, recent_from, usual AS usual_fall, fleet_members, noise, past_points,
  recent_points,
  instances
FROM trend JOIN fleet USING (cluster)
WHERE {sql.ENOUGH} AND recent <= :busy AND past >= :idle AND past - recent > :deviations * greatest(noise, 0.02D)
  AND (fleet_members < :members OR {sql.beyond_fleet("past - recent", 0.02)})
""",
    reason="It waits for records in {recent:.0%} of its time, in {past:.0%} before: it is busy with its own work",
    advice="Profile what it does with a record; add members up to the number of partitions before its lag grows",
)
_REBALANCING: Final = Rule(
    name="consumer-rebalances-often",
    help="Consumers take part in a rebalance every few minutes, by their own count",
    kind="client",
    severity="warning",
    needs=(
        Limit("pushes", 6, "pushes of an instance"),
        Limit("minutes", 30, "minutes from its first to its last push"),
    ),
    limits=(
        Limit("an_hour", 6, "rebalances an hour, in the median of the client's instances"),
        Limit("least", 10, "rebalances in all"),
    ),
    query=f"""
WITH counted AS (
  SELECT cluster, client_id AS subject, client_instance_id, max(resource['group_id']) AS group_id,
    sum(value) AS rebalances, count(*) AS pushes_seen,
    (unix_millis(max(received_at)) - unix_millis(min(received_at))) / 60000D AS minutes_seen
  FROM points
  WHERE {sql.within("received_at")} AND metric = '{REBALANCES}' AND temporality = 'delta' AND value IS NOT NULL
  GROUP BY cluster, client_id, client_instance_id
), often AS (
  SELECT cluster, subject, max(group_id) AS group_id, median(rebalances / minutes_seen * 60D) AS by_hour,
    max(rebalances) AS rebalances, count(*) AS instances
  FROM counted WHERE pushes_seen >= :pushes AND minutes_seen >= :minutes GROUP BY cluster, subject
), fleet AS (
  SELECT cluster, median(by_hour) AS usual, count(*) AS fleet_members FROM often GROUP BY cluster
)
SELECT cluster, subject, group_id, by_hour, rebalances, instances, usual AS usual_by_hour, fleet_members
FROM often JOIN fleet USING (cluster)
WHERE by_hour >= :an_hour AND rebalances >= :least
""",
    reason="Its instances take part in {by_hour:.1f} rebalances an hour; the usual of {fleet_members} clients is "
    "{usual_by_hour:.1f}",
    advice="Look at who joins and leaves (rule rebalance-storm, where the group is hosted by kproxy); use static "
    "membership (group.instance.id) or the consumer protocol of KIP-848, and see to session.timeout.ms and "
    "max.poll.interval.ms",
)
RULES: Final = (_GROWING_LAG, _POLL_LIMIT, _SATURATED, _REBALANCING)
