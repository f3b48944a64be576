"""Producers by their own metrics (KIP-714): request latency, retries and errors.

Java pushes all of these; librdkafka the latency; franz-go the latency by node.
"""

from __future__ import annotations

from typing import Final

from kproxy.pipeline.findings import sql
from kproxy.pipeline.findings.rule import Limit, Rule, Severity

LATENCY: Final = "org.apache.kafka.producer.request.latency.avg"
NODE_LATENCY: Final = "org.apache.kafka.producer.node.request.latency.avg"
SENT: Final = "org.apache.kafka.producer.record.send.total"
RETRIED: Final = "org.apache.kafka.producer.record.retry.total"
FAILED: Final = "org.apache.kafka.producer.record.error.total"

_RISING_LATENCY: Final = Rule(
    name="producer-latency-rising",
    help="The producer requests of a client take much longer than before, and other clients' do not",
    kind="client",
    severity="warning",
    needs=(*sql.TREND_NEEDS, sql.MEMBERS),
    limits=(
        Limit("times", 2, "times the latency before"),
        Limit("least", 20, "milliseconds more than before"),
        sql.DEVIATIONS,
    ),
    # A broker that gets slower is no trouble of those that write to it alone: growth is compared broker by broker.
    query=f"""
WITH samples AS (
  SELECT cluster, client_id AS subject, client_instance_id AS instance, received_at AS at, value, 1 AS weight,
    if(metric = '{LATENCY}', -1, {sql.NODE}) AS node
  FROM points
  WHERE {sql.within("received_at")} AND {sql.one_of("metric", (LATENCY, NODE_LATENCY))} AND value > 0
    AND (metric = '{LATENCY}' OR {sql.IS_BROKER})
), {sql.trend("cluster, subject, node")}, grown AS (
  SELECT *, (recent + 1) / (past + 1) AS growth, count_if(node >= 0) OVER (PARTITION BY cluster, subject) AS brokers
  FROM trend WHERE {sql.ENOUGH}
), of_interest AS (
  SELECT * FROM grown WHERE node >= 0 OR brokers = 0
), {sql.fleet("of_interest", "growth")}, {sql.fleet("of_interest", "growth", by="cluster, node", name="at_broker")},
compared AS (
  SELECT of_interest.*, at_broker.fleet_members >= :members AS by_broker,
    if(by_broker, at_broker.usual, fleet.usual) AS usual, if(by_broker, at_broker.spread, fleet.spread) AS spread,
    if(by_broker, at_broker.fleet_members, fleet.fleet_members) AS fleet_members
  FROM of_interest JOIN fleet USING (cluster) JOIN at_broker USING (cluster, node)
), judged AS (
  SELECT *, recent >= :times * past AND recent - past >= :least AND {sql.beyond_past("0.05D * past")}
    AND (fleet_members < :members OR {sql.beyond_fleet("growth", 0.1)}) AS rising
  FROM compared
)
SELECT cluster, subject, median(past) AS past, median(recent) AS recent, median(recent / past) AS growth,
  min(recent_from) AS recent_from, median(usual) AS usual_growth, max(fleet_members) AS fleet_members,
  median(noise) AS noise, sum(past_points) AS past_points, sum(recent_points) AS recent_points,
  max(instances) AS instances, count(*) AS compared_at
FROM judged GROUP BY cluster, subject HAVING count_if(rising) > 0.5D * count(*)
""",
    reason="Its producer requests take {recent:.1f} ms, {growth:.1f} times as long as the {past:.1f} ms before; the "
    "usual of {fleet_members} clients is {usual_growth:.1f} times",
    advice="Compare the latency by broker (rule broker-slow) and kproxy's kproxy_request_upstream_duration_seconds; "
    "then look at the client's batch.size, linger.ms and network",
)


def _share_of_records(name: str, what: str, metric: str, severity: Severity, least_share: float, advice: str) -> Rule:
    return Rule(
        name=name,
        help=f"A larger share of a producer's records is {what} than before, or far more than of others'",
        kind="client",
        severity=severity,
        needs=(*sql.TREND_NEEDS, sql.MEMBERS),
        limits=(
            Limit("share", least_share, f"share of records that are {what}, at least"),
            Limit("times", 3, "times the share before, and that of the fleet"),
            Limit("least", 20, f"records that are {what}"),
            Limit("pushes", 3, "pushes that tell of some"),
            sql.DEVIATIONS,
        ),
        query=f"""
WITH samples AS (
  SELECT cluster, client_id AS subject, client_instance_id AS instance, received_at AS at,
    try_divide(bad, greatest(bad, sent)) AS value, bad AS weight
  FROM (
    SELECT cluster, client_id, client_instance_id, received_at,
      coalesce(sum(value) FILTER (WHERE metric = '{metric}'), 0) AS bad,
      sum(value) FILTER (WHERE metric = '{SENT}') AS sent
    FROM points
    WHERE {sql.within("received_at")} AND {sql.one_of("metric", (metric, SENT))} AND temporality = 'delta'
    GROUP BY ALL
  ) WHERE greatest(bad, sent) > 0
), {sql.trend()},
{sql.fleet("trend", "recent_mean", sql.ENOUGH)}
SELECT cluster, subject, past_mean AS past, recent_mean AS recent, recent_weight AS records, recent_from,
  usual AS usual_share, fleet_members, past_points, recent_points, instances
FROM trend JOIN fleet USING (cluster)
WHERE {sql.ENOUGH} AND recent_mean >= :share AND recent_weight >= :least AND recent_positive >= :pushes
  AND (
    (recent_mean >= :times * greatest(past_mean, if(fleet_members >= :members, usual, 0))
      AND recent_mean > past + :deviations * noise)
    OR (fleet_members >= :members AND {sql.beyond_fleet("recent_mean", least_share)})
  )
""",
        reason=f"{{recent:.1%}} of its records are {what} ({{records:.0f}} of late), {{past:.1%}} were before; "
        "the usual of {fleet_members} clients is {usual_share:.1%}",
        advice=advice,
    )


RULES: Final = (
    _RISING_LATENCY,
    _share_of_records(
        "producer-retries-rising",
        "sent again",
        RETRIED,
        "warning",
        0.01,
        "Look for leaders that move (table topology), for NOT_LEADER and timeouts in the client's log, and at "
        "request.timeout.ms against the latency of its brokers",
    ),
    _share_of_records(
        "producer-errors-rising",
        "lost",
        FAILED,
        "critical",
        0.001,
        "The client gave these records up: look at the errors that it got (table errors_by_class) and at its log; "
        "check delivery.timeout.ms, max.request.size and its permissions",
    ),
)
