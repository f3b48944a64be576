# This module is pure (no I/O, no clock).
"""Metrics of the process itself: lost log lines, its own faults, what the system refused it, how busy its loop was.

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
