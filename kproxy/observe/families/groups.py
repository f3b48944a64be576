# This module is pure (no I/O, no clock).
"""Metrics of the groups that kproxy hosts.

kproxy.observe.prometheus reads them at each scrape of /metrics. No label names a group: there may be ten thousand.
"""

from __future__ import annotations

from typing import Final

from kproxy.observe import series
from kproxy.observe.families.family import Family, Kind

GROUPS: Final[tuple[Family[series.Rows], ...]] = (
    Family(
        "kproxy_groups",
        Kind.GAUGE,
        ("state",),
        "Hosted groups, by their state.",
        series.group_states,
    ),
    Family(
        "kproxy_group_members",
        Kind.GAUGE,
        (),
        "Members of all hosted groups.",
        series.group_members,
    ),
    Family(
        "kproxy_group_transitions_total",
        Kind.COUNTER,
        ("state", "cause"),
        "Times that a hosted group went to a state, by what caused it.",
        series.group_moves,
    ),
    Family(
        "kproxy_group_rebalance_seconds",
        Kind.HISTOGRAM,
        (),
        "From the first disturbance of a hosted group until its new assignments are there.",
        series.group_histogram("rebalances"),
    ),
    Family(
        "kproxy_group_assignment_seconds",
        Kind.HISTOGRAM,
        (),
        "From the end of the joins until the leader's assignments are there; members wait in SyncGroup meanwhile.",
        series.group_histogram("assignments"),
    ),
    Family(
        "kproxy_group_store_seconds",
        Kind.HISTOGRAM,
        (),
        "How long members of hosted groups waited until the store had what they were to be told.",
        series.group_histogram("store"),
    ),
    Family(
        "kproxy_group_late_heartbeats_total",
        Kind.COUNTER,
        (),
        "Heartbeats that came in the last third of their member's session.",
        series.late_heartbeats,
    ),
)
