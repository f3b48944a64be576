"""Brokers, by what clients tell of them, and by what is connected to them."""

from __future__ import annotations

from typing import Final

from kproxy.pipeline.findings import sql
from kproxy.pipeline.findings.rule import Limit, Rule
from kproxy.pipeline.findings.rules.producers import NODE_LATENCY

_SLOW: Final = Rule(
    name="broker-slow",
    help="Clients wait longer for one broker than for their other brokers",
    kind="broker",
    severity="warning",
    needs=(
        Limit("clients", 5, "clients that tell of the broker"),
        Limit("points", 5, "data points of a client on each broker"),
        Limit("nodes", 3, "brokers that a client tells of"),
    ),
    limits=(
        Limit("times", 2, "times the client's median over its brokers, in the median of the clients"),
        Limit("least", 10, "milliseconds more than that"),
        Limit("share", 0.7, "share of the clients for which the broker is slower by half"),
    ),
    query=f"""
WITH by_client AS (
  SELECT cluster, client_id, {sql.NODE} AS node, median(value) AS latency
  FROM points
  WHERE {sql.within("received_at")} AND metric = '{NODE_LATENCY}' AND value > 0 AND {sql.IS_BROKER}
  GROUP BY ALL HAVING count(*) >= :points
), compared AS (
  SELECT *, median(latency) OVER (PARTITION BY cluster, client_id) AS client_latency,
    count(*) OVER (PARTITION BY cluster, client_id) AS client_nodes
  FROM by_client
), by_node AS (
  SELECT cluster, node, count(*) AS clients_telling, median(latency) AS latency,
    median(client_latency) AS usual_latency,
    median(latency / client_latency) AS factor, median(latency - client_latency) AS more,
    count_if(latency >= 1.5D * client_latency) AS slower_for
  FROM compared WHERE client_nodes >= :nodes GROUP BY cluster, node
)
SELECT cluster, node AS subject, clients_telling, slower_for, latency, usual_latency, factor, more
FROM by_node
WHERE clients_telling >= :clients AND factor >= :times AND more >= :least AND slower_for >= :share * clients_telling
""",
    reason="Producers wait {factor:.1f} times as long for it as for their other brokers: {latency:.1f} ms against "
    "{usual_latency:.1f} ms; so say {slower_for} of {clients_telling} clients",
    advice="Look at its disk, network threads and garbage collection, at its share of leaders "
    "(kafka-leader-election.sh), and at the way from kproxy to it",
)
_RISING: Final = Rule(
    name="broker-latency-rising",
    help="Producer requests to a broker take much longer than before, over all clients",
    kind="broker",
    severity="warning",
    needs=(*sql.TREND_NEEDS, Limit("clients", 5, "client instances that tell of it")),
    limits=(
        Limit("times", 3, "times the latency before"),
        Limit("least", 20, "milliseconds more than before"),
        sql.DEVIATIONS,
    ),
    query=f"""
WITH {sql.gauges((NODE_LATENCY,), subject=sql.NODE, condition=f"value > 0 AND {sql.IS_BROKER}")}, {sql.trend()}
SELECT cluster, subject, past, recent, recent / past AS growth, recent_from, instances, noise, past_points,
  recent_points
FROM trend
WHERE {sql.ENOUGH} AND instances >= :clients AND recent >= :times * past AND recent - past >= :least
  AND {sql.beyond_past("0.05D * past")}
""",
    reason="Producer requests to it take {recent:.1f} ms in the median of {instances} client instances, {growth:.1f} "
    "times as long as the {past:.1f} ms before",
    advice="When all brokers rise, look at the load of the cluster and at the network; when one does, at its disk and "
    "its share of leaders",
)
_SKEW: Final = Rule(
    name="broker-traffic-skew",
    help="One broker carries much more traffic than the others",
    kind="broker",
    severity="info",
    needs=(
        Limit("nodes", 3, "brokers with traffic"),
        Limit("clients", 10, "clients that are connected to it"),
        Limit("bytes", 100_000_000, "bytes over all brokers"),
    ),
    limits=(
        Limit("times", 3, "times the median of the other brokers"),
        Limit("part", 1.5, "times an equal share"),
    ),
    query=f"""
WITH by_node AS (
  SELECT cluster, node, try_sum(try_add(coalesce(bytes_in, 0), coalesce(bytes_out, 0))) AS traffic_bytes,
    count(DISTINCT client_id) AS clients_seen
  FROM traffic WHERE {sql.within("hour", "HOUR")} AND node IS NOT NULL GROUP BY cluster, node
), compared AS (
  SELECT one.cluster, one.node AS subject, one.traffic_bytes, one.clients_seen,
    median(other.traffic_bytes) AS others_bytes, count(*) + 1 AS brokers,
    try_add(try_sum(other.traffic_bytes), one.traffic_bytes) AS total
  FROM by_node AS one JOIN by_node AS other ON one.cluster = other.cluster AND one.node != other.node
  GROUP BY one.cluster, one.node, one.traffic_bytes, one.clients_seen
)
SELECT *, traffic_bytes / total AS part_of_all, traffic_bytes / greatest(others_bytes, 1) AS factor,
  traffic_bytes / 1e9D AS gigabytes, others_bytes / 1e9D AS others_gigabytes
FROM compared
WHERE brokers >= :nodes AND clients_seen >= :clients AND total >= :bytes AND traffic_bytes >= :times * others_bytes
  AND traffic_bytes >= :part * total / brokers
""",
    reason="It carries {part_of_all:.0%} of the traffic of {brokers} brokers: {gigabytes:.2f} GB, and the median of "
    "the others is {others_gigabytes:.2f} GB",
    advice="Move leaders (kafka-leader-election.sh, kafka-reassign-partitions.sh), and look for a topic with few "
    "partitions or with keys that fall on one of them",
)
RULES: Final = (_SLOW, _RISING, _SKEW)
