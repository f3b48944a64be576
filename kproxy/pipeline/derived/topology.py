"""Changes of the topology behind kproxy, from its events."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output

_EVENTS: Final = (
    "'topology_changed', 'clients_rebootstrap', 'upstream_passed_over', 'no_upstream_answers', 'standby_replaced'"
)
_KEYS: Final = ("date", "at", "event", "proxy", "cluster", "candidate")
"""Two candidates may be passed over in one millisecond."""


def write(output: Output, details: DataFrame) -> None:
    """Add new events of the topology; a repeated one changes nothing."""
    rows = details.where(f"event IN ({_EVENTS})").select(*tables.TOPOLOGY.names).dropDuplicates([*_KEYS])
    if not rows.isEmpty():
        output.merge(tables.TOPOLOGY, rows, _KEYS, {})
