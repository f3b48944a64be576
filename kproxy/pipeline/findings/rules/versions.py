"""Versions of client software: known troubles, what they can do, and what changes with a new one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from kproxy.pipeline.findings import sql
from kproxy.pipeline.findings.rule import Limit, Rule, Severity


@dataclass(frozen=True, slots=True)
class Trouble:
    """Versions of a library from `first` on, and before `fixed`."""

    library: str
    first: str
    fixed: str
    severity: Severity
    help: str
    source: str


_JAVA: Final = "apache-kafka-java"
_LIBRDKAFKA: Final = "librdkafka"
_CVE: Final = "https://www.cve.org/CVERecord?id="
_CHANGELOG: Final = "https://github.com/confluentinc/librdkafka/blob/master/CHANGELOG.md"
_WRONG_TOPIC: Final = "a producer may send records to a wrong topic when a batch expires in flight (CVE-2026-35554)"
_FILES: Final = "SASL/OAUTHBEARER reads any file or URL that its configuration names (CVE-2025-27817)"
TROUBLES: Final = (
    Trouble(_JAVA, "2.8.0", "3.9.2", "warning", _WRONG_TOPIC, f"{_CVE}CVE-2026-35554"),
    Trouble(_JAVA, "4.0.0", "4.0.2", "warning", _WRONG_TOPIC, f"{_CVE}CVE-2026-35554"),
    Trouble(_JAVA, "4.1.0", "4.1.2", "warning", _WRONG_TOPIC, f"{_CVE}CVE-2026-35554"),
    Trouble(_JAVA, "3.1.0", "3.9.1", "info", _FILES, f"{_CVE}CVE-2025-27817"),
    Trouble(
        *(_LIBRDKAFKA, "2.5.0", "2.5.3", "critical"),
        "the process aborts at a push when the client has none of the subscribed metrics (#4826)",
        f"{_CHANGELOG}#librdkafka-v253",
    ),
    Trouble(
        *(_LIBRDKAFKA, "2.6.0", "2.6.1", "warning"),
        "fetches fail at brokers before 2.7 (#4871)",
        f"{_CHANGELOG}#librdkafka-v261",
    ),
    Trouble(
        *(_LIBRDKAFKA, "2.1.0", "2.8.0", "info"),
        "a partition may stay at its old leader when the new one has no leader epoch, as in an upgrade (#4901)",
        f"{_CHANGELOG}#librdkafka-v280",
    ),
)
"""Few, and each with its source: what harms data, processes or a replacement of brokers."""


def _array(version: str) -> str:
    return f"array({', '.join(str(int(part)) for part in version.split('.'))})"


def _rows(troubles: Iterable[Trouble]) -> str:
    return ",\n    ".join(
        f"('{one.library}', {_array(one.first)}, {_array(one.fixed)}, '{one.fixed}', '{one.severity}', '{one.help}', "
        f"'{one.source}')"
        for one in troubles
    )


_KNOWN: Final = Rule(
    name="version-known-trouble",
    help="Clients run a version that is known for a trouble",
    kind="version",
    severity="warning",
    query=f"""
WITH troubles(library, first, fixed, fixed_version, level, trouble, source) AS (
  VALUES
    {_rows(TROUBLES)}
), seen AS (
  SELECT cluster, client_id, address, software_name, software_version,
    if(software_name = '{_LIBRDKAFKA}' OR contains(software_version, 'rdkafka-'), '{_LIBRDKAFKA}', software_name)
      AS library,
    if(contains(software_version, 'rdkafka-'), substring_index(software_version, 'rdkafka-', -1), software_version)
      AS version
  FROM clients WHERE last_seen >= :since AND first_seen < :until AND software_name IS NOT NULL
), numbered AS (
  SELECT *, transform(split(regexp_extract(version, '^v?([0-9]+[.][0-9]+([.][0-9]+)?)', 1), '[.]'),
    x -> try_cast(x AS int))
    AS number
  FROM seen
)
SELECT cluster, concat(software_name, ' ', software_version) AS subject, count(DISTINCT client_id) AS client_ids,
  count(DISTINCT client_id, address) AS clients, slice(sort_array(collect_set(client_id)), 1, 10) AS examples,
  concat_ws('; ', sort_array(collect_set(trouble))) AS trouble, max_by(fixed_version, fixed) AS fixed,
  sort_array(collect_set(source)) AS sources,
  CASE WHEN bool_or(level = 'critical') THEN 'critical' WHEN bool_or(level = 'warning') THEN 'warning' ELSE 'info' END
    AS severity
FROM numbered JOIN troubles ON numbered.library = troubles.library AND number >= first AND number < troubles.fixed
GROUP BY cluster, software_name, software_version
""",
    reason="{clients} clients ({client_ids} client ids) run it: {trouble}",
    advice="Upgrade to {fixed} or later; the sources are in the evidence",
)
_NO_REBOOTSTRAP: Final = Rule(
    name="client-cannot-rebootstrap",
    help="A client does not come back by itself when the brokers that it knows are replaced",
    kind="client",
    severity="info",
    query="""
WITH seen AS (
  SELECT *, max(last_seen) OVER (PARTITION BY cluster, client_id) AS newest
  FROM clients WHERE last_seen >= :since AND first_seen < :until AND rebootstrap IS NOT NULL
)
SELECT cluster, client_id AS subject, count(DISTINCT address) AS addresses,
  coalesce(mode(software_name), 'unknown software') AS software, coalesce(mode(software_version), '') AS version,
  max(metadata_version) AS metadata_version, max(last_seen) AS last_seen
FROM seen WHERE rebootstrap = 'no' AND last_seen >= newest - INTERVAL 1 HOUR
GROUP BY cluster, client_id
""",
    reason="It runs {software} {version} at {addresses} addresses, and knows neither KIP-899 nor KIP-1102: when all "
    "brokers that it knows are gone, it stays away until it is restarted",
    advice="Upgrade it (Java 4.0, librdkafka 2.10 or later) or plan to restart it when brokers are replaced; behind "
    "kproxy keep the addresses of its nodes",
)
_ERROR_SHIFT: Final = Rule(
    name="errors-after-version-change",
    help="A client gets many more errors of a class with a new version of its software than with the one before",
    kind="client",
    severity="warning",
    needs=(
        Limit("requests", 1000, "requests with either version"),
        Limit("least", 20, "errors of the class with the new version"),
    ),
    limits=(
        Limit("times", 5, "times the errors by request with the old version, and of other clients"),
        Limit("share", 0.001, "errors by request"),
    ),
    query=f"""
WITH spans AS (
  SELECT cluster, client_id, software_name, software_version, min(first_seen) AS began, max(last_seen) AS ended
  FROM clients WHERE software_version IS NOT NULL GROUP BY ALL
), changes AS (
  SELECT new.cluster, new.client_id, new.software_name, new.software_version AS new_version, new.began AS changed,
    max_by(old.software_version, old.ended) AS old_version
  FROM spans AS new JOIN spans AS old
    ON new.cluster = old.cluster AND new.client_id = old.client_id AND new.software_name = old.software_name
      AND old.began < new.began AND old.ended >= :since AND old.software_version != new.software_version
  WHERE new.began >= :since AND new.began < :until
  GROUP BY ALL
), requested AS (
  SELECT cluster, client_id, software_version, try_sum(requests) AS requests
  FROM traffic WHERE {sql.within("hour")} GROUP BY ALL
), failed AS (
  SELECT cluster, client_id, software_version, error_class, try_sum(errors) AS errors, mode(error) AS error,
    mode(api) AS api
  FROM errors_by_class WHERE {sql.within("hour")} GROUP BY ALL
), others AS (
  SELECT changes.cluster, changes.client_id, new_version, error_class, try_sum(errors) AS errors
  FROM changes JOIN errors_by_class AS other ON changes.cluster = other.cluster AND changes.client_id != other.client_id
    AND other.last_at >= changed
  WHERE {sql.within("hour")} GROUP BY ALL
), asked_by_others AS (
  SELECT changes.cluster, changes.client_id, new_version, try_sum(requests) AS requests
  FROM changes JOIN traffic AS other ON changes.cluster = other.cluster AND changes.client_id != other.client_id
    AND other.hour >= date_trunc('HOUR', changed)
  WHERE {sql.within("hour")} GROUP BY ALL
), compared AS (
  SELECT changes.cluster, changes.client_id AS subject, changes.software_name, old_version, changes.new_version,
    changed,
    new.error_class, new.error, new.api, new.errors AS new_errors, coalesce(old.errors, 0) AS old_errors,
    new_asked.requests AS new_requests, old_asked.requests AS old_requests,
    try_divide(coalesce(others.errors, 0), asked_by_others.requests) AS others_share
  FROM changes
  JOIN failed AS new ON new.cluster = changes.cluster AND new.client_id = changes.client_id
    AND new.software_version = new_version
  JOIN requested AS new_asked ON new_asked.cluster = changes.cluster AND new_asked.client_id = changes.client_id
    AND new_asked.software_version = new_version
  JOIN requested AS old_asked ON old_asked.cluster = changes.cluster AND old_asked.client_id = changes.client_id
    AND old_asked.software_version = old_version
  LEFT JOIN failed AS old ON old.cluster = changes.cluster AND old.client_id = changes.client_id
    AND old.software_version = old_version AND old.error_class = new.error_class
  LEFT JOIN others ON others.cluster = changes.cluster AND others.client_id = changes.client_id
    AND others.new_version = changes.new_version AND others.error_class = new.error_class
  LEFT JOIN asked_by_others ON asked_by_others.cluster = changes.cluster
    AND asked_by_others.client_id = changes.client_id AND asked_by_others.new_version = changes.new_version
)
SELECT *
FROM (
  SELECT *, try_divide(new_errors, new_requests) AS new_share, try_divide(old_errors, old_requests) AS old_share
  FROM compared
) WHERE new_errors >= :least AND new_requests >= :requests AND old_requests >= :requests
  AND new_share >= :share AND new_share >= :times * old_share AND new_share >= :times * coalesce(others_share, 0)
""",
    reason="With {software_name} {new_version} (since {changed:%Y-%m-%d %H:%M}) it got {new_errors} errors of the "
    "class {error_class}, {new_share:.2%} of its requests, mostly {error} to {api}; with {old_version} "
    "{old_share:.2%}",
    advice="Read what changed between the two versions; the class says what is to be done (KIP-1050): "
    "invalid-configuration is for a person, application-recoverable ends the client. Go back to the old "
    "version if records are lost",
)
RULES: Final = (_KNOWN, _NO_REBOOTSTRAP, _ERROR_SHIFT)
