"""Client instances, by their pushes: gone silent, or with a wrong clock."""

from __future__ import annotations

from typing import Final

from kproxy.pipeline.findings import sql
from kproxy.pipeline.findings.rule import Limit, Rule

# The Java producer pushes a last time only if it has something left to send.
_LEFT: Final = "(software_name <=> 'apache-kafka-java' AND last_reason <=> 'client_closed')"
_SILENT: Final = Rule(
    name="instance-stopped-pushing",
    help="An instance pushes no more, without a last push that says so, while its connection or its siblings go on",
    kind="client",
    severity="warning",
    needs=(Limit("pushes", 5, "pushes of the instance"),),
    limits=(
        Limit("gaps", 4, "times its usual gap between two pushes"),
        Limit("seconds", 300, "seconds without a push, at least, after which others still push by the same kproxy"),
        Limit("siblings", 2, "siblings that go on, where none of its connections does, and it did not close them"),
    ),
    # Where a receiver stalls, or the job catches up, events are newer than pushes, and all would be called silent.
    query=f"""
WITH pushed AS (
  SELECT cluster, client_id, client_instance_id, software_name, address, port, proxy, received_at, terminating,
    unix_millis(received_at)
      - lag(unix_millis(received_at)) OVER (PARTITION BY cluster, client_instance_id ORDER BY received_at) AS gap
  FROM pushes WHERE {sql.within("received_at")}
), known AS (
  SELECT cluster, client_id, client_instance_id, max_by(address, received_at) AS address,
    max_by(software_name, received_at) AS software_name, min(received_at) AS first_push,
    max(received_at) AS last_push, max_by(proxy, received_at) AS proxy, collect_set(port) AS ports,
    count(*) AS pushes_seen, median(gap) / 1000D AS usual_gap, bool_or(terminating) AS closed
  FROM pushed GROUP BY cluster, client_id, client_instance_id
), paced AS (
  SELECT *, greatest(:gaps * usual_gap, :seconds) AS patience,
    count(*) OVER (PARTITION BY cluster, client_id, address) AS at_address
  FROM known
), quiet AS (
  SELECT *, unix_millis(last_push) / 1000D + patience AS silent_from FROM paced
  WHERE pushes_seen >= :pushes AND NOT closed
), heard AS (
  SELECT cluster, proxy, collect_list(at) AS times
  FROM (
    SELECT cluster, proxy, min(unix_millis(received_at)) / 1000D AS at FROM pushed
    GROUP BY cluster, proxy, date_trunc('MINUTE', received_at)
  ) GROUP BY cluster, proxy
), silent AS (
  SELECT * FROM (
    SELECT quiet.*, array_min(filter(times, at -> at > silent_from)) AS heard_from
    FROM quiet JOIN heard ON heard.cluster <=> quiet.cluster AND heard.proxy <=> quiet.proxy
  ) WHERE heard_from IS NOT NULL
), connected AS (
  SELECT silent.cluster, client_instance_id, max_by(reason, ended) AS last_reason,
    max(coalesce(ended, last_seen)) FILTER (WHERE unix_millis(coalesce(ended, last_seen)) / 1000D > heard_from)
      AS connected_until
  FROM silent JOIN connections AS held ON held.cluster = silent.cluster AND held.client_id = silent.client_id
    AND held.address = silent.address AND (array_contains(ports, held.port) OR at_address = 1)
  WHERE held.since <= last_push AND coalesce(ended, last_seen) >= last_push
  GROUP BY silent.cluster, client_instance_id
), family AS (
  SELECT silent.cluster, silent.client_instance_id,
    count_if(unix_millis(other.last_push) / 1000D > silent_from AND other.first_push < silent.last_push) AS siblings_on,
    count_if(other.first_push >= silent.last_push) AS successors
  FROM silent JOIN known AS other ON other.cluster = silent.cluster AND other.client_id = silent.client_id
    AND other.client_instance_id != silent.client_instance_id
  GROUP BY silent.cluster, silent.client_instance_id
), judged AS (
  SELECT silent.*, connected_until, last_reason, coalesce(siblings_on, 0) AS siblings_on,
    coalesce(successors, 0) AS successors
  FROM silent LEFT JOIN connected USING (cluster, client_instance_id)
    LEFT JOIN family USING (cluster, client_instance_id)
), found AS (
  SELECT * FROM judged
  WHERE connected_until IS NOT NULL OR (siblings_on >= :siblings AND successors = 0 AND NOT {_LEFT})
)
SELECT cluster, client_id AS subject, count(*) AS instances,
  min_by(client_instance_id, last_push) AS client_instance_id,
  min_by(address, last_push) AS address, min(last_push) AS last_push, min_by(usual_gap, last_push) AS usual_gap,
  count(connected_until) AS connected, max(connected_until) AS connected_until, max(siblings_on) AS siblings_on,
  if(count(connected_until) > 0, concat(count(connected_until), ' of them connected since then'),
    concat('none of them connected, while ', max(siblings_on), ' siblings push on')) AS circumstance
FROM found GROUP BY cluster, client_id
""",
    reason="{instances} of its instances stopped to push without a last push, {circumstance}; the first one at "
    "{address}, after {last_push:%Y-%m-%d %H:%M}, which had pushed every {usual_gap:.0f} s",
    advice="Connected: its telemetry is off after an error, or the process stands still, so look at its log and "
    "threads. Not connected: the process was killed or its machine is gone",
)
_CLOCK: Final = Rule(
    name="clock-wrong",
    help="The clock of a client's machine is wrong, so its metrics, logs and timestamps of records are, too",
    kind="client",
    severity="info",
    needs=(Limit("pushes", 3, "pushes from the address"),),
    limits=(
        Limit("seconds", 60, "seconds, in the median"),
        Limit("severe", 300, "seconds: warning"),
    ),
    query=f"""
WITH clocks AS (
  SELECT cluster, client_id, address, median(clock_ahead) AS ahead, count(clock_ahead) AS pushes_seen
  FROM pushes WHERE {sql.within("received_at")} GROUP BY ALL
), wrong AS (
  SELECT * FROM clocks WHERE pushes_seen >= :pushes AND abs(ahead) >= :seconds
)
SELECT cluster, client_id AS subject, max_by(address, abs(ahead)) AS address, max_by(ahead, abs(ahead)) AS ahead,
  max(abs(ahead)) AS seconds_off, if(max_by(ahead, abs(ahead)) > 0, 'ahead', 'behind') AS direction,
  count(*) AS addresses, sum(pushes_seen) AS pushes_seen,
  if(max(abs(ahead)) >= :severe, 'warning', 'info') AS severity
FROM wrong GROUP BY cluster, client_id
""",
    reason="The clock at {address} is {seconds_off:.0f} s {direction}, in the median of {pushes_seen} pushes from "
    "{addresses} addresses",
    advice="Start NTP or chrony on the machine; until then its records carry wrong timestamps, and retention by time "
    "is off",
)
RULES: Final = (_SILENT, _CLOCK)
