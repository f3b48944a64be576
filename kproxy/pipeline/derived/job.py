"""Brings the derived tables up to date with what the base tables have got.

A stream of Spark's over each base table says what is new; its checkpoint is beside the tables. Whatever a step writes
is a function of the base tables, so a step that was cut off is simply done again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql.streaming import StreamingQuery

from kproxy.pipeline import streams, tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.derived import (
    connections,
    errors_by_class,
    group_rebalances,
    instances,
    rollups,
    topology,
    traffic,
)
from kproxy.pipeline.derived.details import with_details

Step = Callable[[Output, DataFrame], None]


def _of_events(output: Output, events: DataFrame) -> None:
    details = with_details(events).persist()
    try:
        for step in (connections, traffic, topology, errors_by_class, group_rebalances):
            step.write(output, details)
    finally:
        details.unpersist()


STEPS: Final[Mapping[str, tuple[tables.Table, Step]]] = {
    "events": (tables.EVENTS, _of_events),
    "pushes": (tables.PUSHES, instances.write),
    "points": (tables.POINTS, rollups.write),
}
"""By the name of the checkpoint: the table that grows, and what follows from it."""
_TURNS: Final = (("events", "points"), ("pushes",))
"""Events and pushes both write `clients`, and Delta refuses one of two merges at the same time."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """Streams from the base tables of an output to its derived ones."""

    output: Output

    def run(self) -> None:
        """Bring all derived tables up to date; raises `PipelineError`."""
        for together in _TURNS:
            for query in [self.start(name) for name in together]:
                streams.wait(query, lambda _: None)

    def start(self, name: str) -> StreamingQuery:
        """Start to bring up to date what follows from one base table; it ends when that is done."""
        source, step = STEPS[name]
        new = (
            self.output.session.readStream.format("delta")
            # Retention deletes old rows, which is no news; what is derived of them stays.
            .option("skipChangeCommits", True)
            .load(self.output.path(source.name))
        )
        written = new.writeStream.foreachBatch(lambda rows, _: step(self.output, rows))
        place = self.output.path(f"_derived/{name}")
        return written.option("checkpointLocation", place).trigger(availableNow=True).start()
