# This module is pure (no I/O, no clock).
"""Metrics of the process itself: lost log lines, its own faults, what the system refused it, how busy its loop was,
and how reloads of its configuration went.

kproxy.observe.prometheus reads them at each scrape of /metrics.
"""

from __future__ import annotations

from typing import Final

from kproxy.observe import series
from kproxy.observe.families.family import Family, Kind

PROCESS: Final[tuple[Family[series.ProcessRows], ...]] = (
    Family(
        "kproxy_log_lines_dropped_total",
        Kind.COUNTER,
        (),
        "Log lines that are lost, because stderr took them too slowly or not at all.",
        series.log_lines_dropped,
    ),
    Family(
        "kproxy_internal_errors_total",
        Kind.COUNTER,
        ("where",),
        "Faults in kproxy's own code, by the place that they did not go beyond.",
        series.internal_errors,
    ),
    Family(
        "kproxy_reloads_total",
        Kind.COUNTER,
        ("result",),
        "Reloads of the configuration, and of TLS's files when they changed, by result: applied or refused.",
        series.reloads,
    ),
    Family(
        "kproxy_config_last_reload_successful",
        Kind.GAUGE,
        (),
        "1 when the last reload was applied, or there was none; 0 when it was refused: the log says why.",
        series.last_reload_applied,
    ),
    Family(
        "kproxy_config_last_reload_success_timestamp_seconds",
        Kind.GAUGE,
        (),
        "When a reload was last applied, or kproxy started, in seconds since the Unix epoch.",
        series.last_applied_at,
    ),
    Family(
        "kproxy_shortages_total",
        Kind.COUNTER,
        ("errno",),
        "Times that the system refused kproxy a descriptor or memory for a socket, by its error.",
        series.shortages,
    ),
    Family(
        "kproxy_loop_lag_seconds",
        Kind.HISTOGRAM,
        (),
        "Time that the loop was busy between two polls: as long did a connection wait at most.",
        series.loop_lag,
    ),
    Family(
        "kproxy_loop_stalls_total",
        Kind.COUNTER,
        ("what",),
        "Times that the loop, or only Trio's tasks, stood still for more than 250 ms.",
        series.loop_stalls,
    ),
)
