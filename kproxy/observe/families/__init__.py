# This module is pure.
"""Every metric of kproxy's own, once: its name, type, labels, help, and how it is read off the counters."""

from __future__ import annotations

from typing import Final

from kproxy.observe import series
from kproxy.observe.families.family import Family, Kind
from kproxy.observe.families.relay import RELAY
from kproxy.observe.families.telemetry import TELEMETRY
from kproxy.observe.families.topology import EVENTS, TOPOLOGY

__all__ = ["FAMILIES", "PROCESS_FAMILIES", "Family", "Kind"]

FAMILIES: Final[tuple[Family[series.Rows], ...]] = (*RELAY, *TOPOLOGY, *TELEMETRY)
"""Of each virtual cluster: every series has the label `cluster` before the family's own."""

PROCESS_FAMILIES: Final[tuple[Family[series.ProcessRows], ...]] = EVENTS
"""Of the whole process."""
