# This module is pure.
"""Metrics of what is behind a virtual cluster, how it changes, and of clients that were told so."""

from __future__ import annotations

from typing import Final

from kproxy.observe import series
from kproxy.observe.families.family import SOFTWARE, Family, Kind

TOPOLOGY: Final[tuple[Family[series.Rows], ...]] = (
    Family(
        "kproxy_topology_epoch",
        Kind.GAUGE,
        (),
        "The number of the topology that clients are to know; it rises when they must rebootstrap.",
        series.whole("epoch"),
    ),
    Family(
        "kproxy_topology_epochs_total",
        Kind.COUNTER,
        ("cause",),
        "Times that the epoch rose, by cause.",
        series.by_key("epochs"),
    ),
    Family(
        "kproxy_topology_changes_total",
        Kind.COUNTER,
        ("change",),
        "Changes of the backend that were seen: nodes added, gone or moved, another cluster id.",
        series.by_key("changes"),
    ),
    Family(
        "kproxy_clients_told_total",
        Kind.COUNTER,
        ("means", *SOFTWARE),
        "Connections whose client was told to rebootstrap, by means and by the software that the client says it is.",
        series.by_told,
    ),
    Family(
        "kproxy_upstream_active",
        Kind.GAUGE,
        ("upstream",),
        "1 for the upstream cluster behind the virtual cluster, 0 for those where it can fail over to.",
        series.by_upstream,
    ),
)
