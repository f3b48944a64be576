"""The streaming job: what kproxy wrote becomes Delta tables, each record once.

A batch is written table by table. Delta remembers the batch's number with each write, so a job that was killed in
between repeats its last batch, and the tables that have it already leave it out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql.streaming import StreamingQuery

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.ingest import changed, directories, losses, points, records, topics
from kproxy.pipeline.ingest.inputs import FilesInput, Input, TopicInput
from kproxy.pipeline.ingest.parsed import Parsed, parse

_CHECKPOINT: Final = "_checkpoint"


@dataclass(frozen=True, slots=True)
class Options:
    """How large a batch is; 50,000 pushes of 30 points take some 400 MB."""

    files_a_batch: int = 200
    records_a_batch: int = 50_000
    accept_loss: bool = False
    """Go on when records of a topic are gone before they were read; `quarantine` says how many."""


@dataclass(frozen=True, slots=True)
class Job:
    """Reads inputs and writes the base tables of an output."""

    output: Output
    inputs: Sequence[Input]
    options: Options = Options()

    def start(self, every: str | None) -> StreamingQuery:
        """Start it: a batch each `every`, as "30s"; None is all that is there, then an end."""
        self.output.create(tables.TABLES.values())
        files = [each for each in self.inputs if isinstance(each, FilesInput)]
        directories.check(self.output, files)
        changed.note(self.output, files, self._checkpoint)
        topics.check(self.output, [each for each in self.inputs if isinstance(each, TopicInput)])
        stream = records.read(
            self.output.session,
            self.inputs,
            files_a_batch=self.options.files_a_batch,
            records_a_batch=self.options.records_a_batch,
            accept_loss=self.options.accept_loss,
        )
        writer = parse(stream).writeStream.option("checkpointLocation", self._checkpoint).foreachBatch(self._write)
        return (writer.trigger(availableNow=True) if every is None else writer.trigger(processingTime=every)).start()

    def _write(self, batch: DataFrame, number: int) -> None:
        append = partial(self.output.append, writer=self._application, number=number)
        parsed = Parsed(batch.persist())
        try:
            found = parsed.found()
            pushes = parsed.pushes()
            if found.first is not None and found.last is not None:
                pushes = points.fresh(pushes, self.output.read(tables.PUSHES), found.first, found.last)
            # A commit of nothing would take half a second.
            if found.pushes:
                append(tables.POINTS, points.rows(pushes))
            if found.events:
                append(tables.EVENTS, parsed.events())
            problems = [parsed.problems()] if found.problems else []
            if problems := [*problems, *self._lost(batch, number)]:
                append(tables.QUARANTINE, reduce(DataFrame.unionByName, problems))
            if found.pushes:  # the last one: as long as a push is not there, a repeated batch finds it fresh
                append(tables.PUSHES, points.pushes(pushes))
        finally:
            parsed.rows.unpersist()

    def _lost(self, batch: DataFrame, number: int) -> Iterable[DataFrame]:
        lost = losses.rows(batch, self._checkpoint, number) if self.options.accept_loss else None
        return [] if lost is None else [lost]

    @property
    def _checkpoint(self) -> str:
        return self.output.path(_CHECKPOINT)

    @property
    def _application(self) -> str:
        """Which job wrote a batch: batches are numbered by its checkpoint."""
        return f"kproxy-{hashlib.sha256(self._checkpoint.encode()).hexdigest()[:16]}"
