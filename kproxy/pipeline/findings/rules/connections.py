"""Connections: too short, too many, and ended for a reason that somebody has to look at."""

from __future__ import annotations

from typing import Final

from kproxy.pipeline.findings import sql
from kproxy.pipeline.findings.rule import Limit, Rule

_CHURN: Final = Rule(
    name="connection-churn",
    help="A client connects again and again: in several hours it opens many short connections, and other clients do "
    "not",
    kind="client",
    severity="warning",
    needs=(Limit("hours", 2, "hours with so many"), sql.MEMBERS),
    limits=(
        Limit("short", 60, "seconds below which a connection is short"),
        Limit("an_hour", 30, "short connections in an hour from an address"),
        sql.DEVIATIONS,
    ),
    query=f"""
WITH by_hour AS (
  SELECT cluster, client_id AS subject, date_trunc('HOUR', since) AS hour, count_if(seconds < :short) AS short_ones,
    count_if(seconds < :short) / greatest(count(DISTINCT address), 1) AS by_address
  FROM connections WHERE {sql.within("since")} GROUP BY ALL
), churn AS (
  SELECT cluster, subject, count_if(by_address >= :an_hour) AS hours_many, max(by_address) AS most,
    max_by(hour, by_address) AS worst_hour, sum(short_ones) AS short_ones
  FROM by_hour GROUP BY cluster, subject
), why AS (
  SELECT cluster, client_id AS subject, coalesce(mode(reason), 'unknown') AS mostly, median(seconds) AS median_seconds,
    count(DISTINCT address) AS addresses
  FROM connections WHERE {sql.within("since")} AND seconds < :short GROUP BY ALL
), {sql.fleet("churn", "most")}
SELECT cluster, subject, short_ones, most, worst_hour, hours_many, mostly, median_seconds, addresses,
  usual AS usual_most, fleet_members
FROM churn JOIN why USING (cluster, subject) JOIN fleet USING (cluster)
WHERE hours_many >= :hours AND (fleet_members < :members OR {sql.beyond_fleet("most", 1)})
""",
    reason="It opened {short_ones} connections that lasted less than {short:.0f} s ({median_seconds:.1f} s in the "
    "median), up to {most:.0f} in an hour from one address; most ended by {mostly}; the usual of "
    "{fleet_members} clients is {usual_most:.0f}",
    advice="Make one client and keep it: look for a producer or consumer that is made for each message or job, and "
    "for a process that fails at its start; the reason says who closed",
)
_LEAK: Final = Rule(
    name="connection-leak",
    help="A client holds ever more connections, and closes none",
    kind="client",
    severity="warning",
    needs=(
        Limit("looks", 8, "looks at its open connections, of 12 between its first one and the last"),
        Limit("minutes", 60, "minutes between these"),
    ),
    limits=(
        Limit("times", 3, "times as many connections by address as in the beginning"),
        Limit("least", 20, "connections more by address"),
        Limit("unseen", 900, "seconds for which a connection counts as open after its last event"),
        Limit("share", 0.7, "share of looks at which there are more than before"),
    ),
    query="""
WITH held AS (
  SELECT cluster, client_id AS subject, address, greatest(since, :since) AS since, ended,
    least(coalesce(ended, last_seen), :until) AS until
  FROM connections WHERE since < :until AND coalesce(ended, last_seen) >= :since
), spans AS (
  SELECT cluster, subject, min(since) AS began, max(until) AS last_at,
    unix_millis(max(until)) - unix_millis(min(since)) AS span
  FROM held GROUP BY cluster, subject
), looks AS (
  SELECT *, explode(sequence(1, 12)) AS look FROM spans WHERE span >= :minutes * 60000
), counted AS (
  SELECT cluster, subject, look, any_value(span) / 60000D AS minutes_seen,
    count(DISTINCT address) FILTER (WHERE open) AS addresses, count_if(open) AS connections
  FROM (
    SELECT looks.cluster, looks.subject, look, span, address,
      unix_millis(since) <= at AND if(ended IS NULL, unix_millis(until) + :unseen * 1000 >= at, unix_millis(ended) > at)
        AS open
    FROM (SELECT *, unix_millis(began) + span * look / 12D AS at FROM looks) AS looks
    JOIN held ON held.cluster = looks.cluster AND held.subject = looks.subject
  ) GROUP BY cluster, subject, look
), stepped AS (
  SELECT *, connections / greatest(addresses, 1) AS by_address,
    connections / greatest(addresses, 1)
      - lag(connections / greatest(addresses, 1)) OVER (PARTITION BY cluster, subject ORDER BY look) AS step
  FROM counted
), grown AS (
  SELECT cluster, subject, min_by(by_address, look) FILTER (WHERE by_address > 0) AS first_count,
    max_by(by_address, look) AS last_count, max_by(connections, look) AS open_now, max_by(addresses, look) AS addresses,
    count_if(by_address > 0) AS looks_seen, count_if(step > 0) AS rises, count_if(step < 0) AS falls,
    any_value(minutes_seen) / 60D AS hours
  FROM stepped GROUP BY cluster, subject
)
SELECT *, (last_count - first_count) / hours AS by_hour
FROM grown
WHERE looks_seen >= :looks AND last_count >= :times * first_count AND last_count - first_count >= :least
  AND rises >= :share * (looks_seen - 1) AND falls <= 1
""",
    reason="It holds {open_now} connections from {addresses} addresses: {last_count:.0f} by address, "
    "{first_count:.0f} in the beginning, and they only grew for {hours:.1f} h",
    advice="Look for clients that are made and not closed (close() in a finally, or a with block); until then "
    "kproxy's limits.max_connections_per_address protects the others",
)
_HINTS: Final = (
    ("malformed_request", "it sends bytes that are not Kafka"),
    ("invalid_frame_size", "it does not speak Kafka"),
    ("frame_too_large", "lower its max.request.size, or raise limits.max_request_bytes if it is right"),
    ("truncated_request", "it, or the network, closes in the middle of a request"),
    ("stalled_frame", "its requests stop halfway: look at its network, or at a process that stands still"),
    ("unread_response", "it does not read its responses: look at a process that stands still, or out of memory"),
    ("idle_timeout", "it connects and sends nothing: look at its security.protocol, or at a health check"),
    ("unknown_api", "it is newer than kproxy, or does not speak Kafka"),
    ("unsupported_version", "it is newer than kproxy, or takes a way to log in that is not served"),
    ("refused_api", "it asks for what is only for brokers, or switched off"),
)
_REFUSED: Final = Rule(
    name="connections-cut-off",
    help="kproxy has to end connections of a client for what this client does",
    kind="client",
    severity="warning",
    needs=(Limit("least", 5, "connections that ended so"),),
    limits=(Limit("share", 0.1, "share of the connections of the client that ended"),),
    query=f"""
WITH hints(reason, hint) AS (
  VALUES {sql.values(_HINTS)}
), ended AS (
  SELECT cluster, client_id, reason, detail, ended FROM connections WHERE ended >= :since AND ended < :until
), totals AS (
  SELECT cluster, client_id, count(*) AS all_ended FROM ended GROUP BY ALL
), by_reason AS (
  SELECT cluster, client_id, reason, count(*) AS cut_off, mode(detail) AS detail, min(ended) AS first_at,
    max(ended) AS last_at
  FROM ended GROUP BY cluster, client_id, reason
)
SELECT by_reason.cluster, by_reason.client_id AS subject, reason, hint, cut_off, all_ended, detail, first_at, last_at
FROM by_reason JOIN hints USING (reason) JOIN totals
  ON totals.cluster <=> by_reason.cluster AND totals.client_id <=> by_reason.client_id
WHERE cut_off >= :least AND cut_off >= :share * all_ended
""",
    reason="{cut_off} of its {all_ended} connections that ended were cut off by kproxy: {reason}",
    advice="{reason}: {hint}",
)
_PROXY: Final = Rule(
    name="proxy-short-of-resources",
    help="A kproxy ends connections for a fault of its own, or because it has no memory left",
    kind="proxy",
    severity="critical",
    needs=(Limit("least", 3, "connections that ended so"),),
    query="""
WITH ended AS (
  SELECT cluster, proxy, reason, detail, ended FROM connections
  WHERE ended >= :since AND ended < :until
    AND reason IN ('internal_error', 'memory_limit')
)
SELECT cluster, proxy AS subject, reason, count(*) AS connections, mode(detail) AS detail,
  min(ended) AS first_at, max(ended) AS last_at
FROM ended GROUP BY cluster, proxy, reason HAVING count(*) >= :least
""",
    reason="It ended {connections} connections by {reason}, from {first_at:%Y-%m-%d %H:%M} to {last_at:%H:%M}",
    advice="internal_error: report the traceback in kproxy's log; memory_limit: raise limits and the memory of the "
    "process, or add a replica",
)
_REFUSALS: Final = f"""refused AS (
  SELECT cluster, proxy, at, get_json_object(json, '$.reason') AS reason, get_json_object(json, '$.detail') AS detail,
    get_json_object(json, '$.address') AS address,
    coalesce(try_add(1, try_cast(get_json_object(json, '$.left_out') AS bigint)), 1) AS times
  FROM (
    SELECT DISTINCT cluster, proxy, at, json FROM events WHERE event = 'admission_refused' AND {sql.within("at")}
  )
)"""
"""Clients that were not let in: kproxy writes some of them, and of how many others each one tells.

A topic may hold an event twice, after a lost answer, and a directory may have it, too. The numbers of events tell two
that are alike from one that is repeated.
"""
_KEPT_OUT: Final = (
    ("tls_on_plaintext", "it speaks TLS to a port that has none: set its security.protocol to PLAINTEXT"),
    ("plaintext_on_tls", "it speaks plaintext to a port that has TLS: set its security.protocol to SSL or SASL_SSL"),
    ("tls_failed", "the detail says what its TLS and kproxy do not agree on: look at its truststore, and its keystore"),
    ("tls_timeout", "its TLS handshake does not end: look at the network between it and kproxy"),
    (
        "unknown_server_name",
        "it asks for a name that kproxy has not: look at its bootstrap.servers",
    ),
    (
        "authentication_timeout",
        "it does not authenticate: look at its security.protocol and sasl.mechanism",
    ),
    ("unauthenticated_request", "it does not authenticate: look at its security.protocol"),
    ("unexpected_proxy_header", "name the load balancer before kproxy in proxy_protocol.networks"),
    (
        "proxy_header",
        "its load balancer sends no PROXY header, or a wrong one: switch that on, or leave it out of "
        "proxy_protocol.networks",
    ),
    ("http_on_kafka_port", "it speaks HTTP to a port of Kafka: a health check or a scanner has the wrong port"),
)
_NOT_ADMITTED: Final = Rule(
    name="clients-not-admitted",
    help="Clients at an address try again and again, and are not let in for how they are set up",
    kind="address",
    severity="warning",
    needs=(Limit("least", 5, "connections that ended so"),),
    query=f"""
WITH hints(reason, hint) AS (
  VALUES {sql.values(_KEPT_OUT)}
), {_REFUSALS}
SELECT cluster, address AS subject, reason, any_value(hint) AS hint, count(*) AS connections, mode(detail) AS detail,
  min(at) AS first_at, max(at) AS last_at
FROM refused JOIN hints USING (reason) GROUP BY cluster, address, reason HAVING count(*) >= :least
""",
    reason="At least {connections} connections from there ended before they were relayed: {reason}",
    advice="{reason}: {hint}",
)
_LIMITS: Final = (
    ("client_limit", "critical", "raise limits.max_connections and the descriptors of the process, or add a replica"),
    ("out_of_descriptors", "critical", "raise the open files that the process may have (LimitNOFILE, ulimit -n)"),
    ("cluster_limit", "critical", "raise max_connections of the virtual cluster, or look for a connection leak"),
    (
        "address_limit",
        "warning",
        "raise limits.max_connections_per_address if many clients share the address, or look "
        "for a connection leak there",
    ),
    (
        "address_rate",
        "warning",
        "look for a client there that connects again and again, or raise limits.connections_per_second_per_address",
    ),
    ("handshake_limit", "warning", "raise limits.max_handshakes or handshakes_per_second, or add a replica"),
    (
        "authentication_limit",
        "warning",
        "raise limits.max_unauthenticated, or look for clients that never log in",
    ),
    (
        "authentication_unavailable",
        "critical",
        "kproxy has no keys of the issuer of tokens: look at authentication.oauthbearer and at the log",
    ),
)
_AT_LIMIT: Final = Rule(
    name="clients-turned-away",
    help="A kproxy turns clients away: one of its limits is reached, or it cannot check who they are",
    kind="proxy",
    severity="warning",
    needs=(Limit("least", 5, "connections that were turned away"),),
    query=f"""
WITH hints(reason, severity, hint) AS (
  VALUES {sql.values(_LIMITS)}
), {_REFUSALS}, by_address AS (
  SELECT cluster, proxy, reason, address, try_sum(times) AS times, mode(detail) AS detail, min(at) AS first_at,
    max(at) AS last_at
  FROM refused GROUP BY ALL
)
SELECT cluster, proxy AS subject, reason, any_value(severity) AS severity, any_value(hint) AS hint,
  try_sum(times) AS connections, count(*) AS addresses, max_by(address, times) AS most_of,
  max_by(detail, times) AS detail, min(first_at) AS first_at, max(last_at) AS last_at
FROM by_address JOIN hints USING (reason) GROUP BY cluster, proxy, reason HAVING try_sum(times) >= :least
""",
    reason="It turned {connections} connections away by {reason}, most of them from {most_of}, from "
    "{first_at:%Y-%m-%d %H:%M} to {last_at:%H:%M}",
    advice="{reason}: {hint}",
)
RULES: Final = (_CHURN, _LEAK, _REFUSED, _PROXY, _NOT_ADMITTED, _AT_LIMIT)
