# This module is pure (no I/O, no clock).
"""The definition of every metric of kproxy: its name, type, labels, help, and how to read it from the counters."""

from __future__ import annotations

from typing import Final

from kproxy.observe import series
from kproxy.observe.families.family import Family, Kind
from kproxy.observe.families.groups import GROUPS
from kproxy.observe.families.process import PROCESS
from kproxy.observe.families.relay import ACCEPTING, RELAY
from kproxy.observe.families.telemetry import TELEMETRY
from kproxy.observe.families.topology import EVENTS, TOPOLOGY
from kproxy.observe.families.transactions import TRANSACTIONS

__all__ = ["FAMILIES", "PROCESS_FAMILIES", "Family", "Kind"]

FAMILIES: Final[tuple[Family[series.Rows], ...]] = (*RELAY, *TOPOLOGY, *TELEMETRY, *GROUPS, *TRANSACTIONS)
"""The metrics of each virtual cluster: every series has the label `cluster` before the family's own."""

PROCESS_FAMILIES: Final[tuple[Family[series.ProcessRows], ...]] = (*ACCEPTING, *PROCESS, *EVENTS)
"""The metrics of the whole process."""
