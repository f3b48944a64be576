"""The streaming job: what kproxy wrote becomes Delta tables, each record once.

A batch is written table by table. Delta remembers the batch's number with each write, so a job that was killed in
between repeats its last batch, and the tables that have it already leave it out.
"""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from kproxy.pipeline import points, records, tables
from kproxy.pipeline.errors import PipelineError
from kproxy.pipeline.inputs import Input
from kproxy.pipeline.parsed import Parsed, parse

_CHECKPOINT: Final = "_checkpoint"
_VERSION: Final = "kproxy.pipeline.version"


@dataclass(frozen=True, slots=True)
class Options:
    """How large a batch is; 50,000 pushes of 30 points take some 400 MB."""

    files_a_batch: int = 200
    records_a_batch: int = 50_000


@dataclass(frozen=True, slots=True)
class Job:
    """Reads inputs and writes the tables in the directory, or URI, `output`."""

    session: SparkSession
    inputs: Sequence[Input]
    output: str
    options: Options = Options()

    def start(self, every: str | None) -> StreamingQuery:
        """Start it: a batch each `every`, as "30s"; None is all that is there, then an end."""
        for table in tables.TABLES.values():
            self._create(table)
        stream = records.read(
            self.session,
            self.inputs,
            files_a_batch=self.options.files_a_batch,
            records_a_batch=self.options.records_a_batch,
        )
        writer = parse(stream).writeStream.option("checkpointLocation", self._at(_CHECKPOINT)).foreachBatch(self._write)
        return (writer.trigger(availableNow=True) if every is None else writer.trigger(processingTime=every)).start()

    def _create(self, table: tables.Table) -> None:
        where = self._at(table.name)
        self.session.sql(
            f"CREATE TABLE IF NOT EXISTS delta.`{where}` ({table.ddl}) USING delta "
            f"PARTITIONED BY (date) "
            f"TBLPROPERTIES ('{_VERSION}' = '{tables.VERSION}') COMMENT '{table.help}'"
        )
        found = self.session.sql(f"SHOW TBLPROPERTIES delta.`{where}`").where(f"key = '{_VERSION}'").collect()
        version = found[0]["value"] if found else None
        if version != str(tables.VERSION):
            raise PipelineError(
                f"output {self.output}: table {table.name} is of version {version}, and this pipeline "
                f"writes {tables.VERSION}; use another directory, or the kproxy that wrote it"
            )

    def _write(self, batch: DataFrame, number: int) -> None:
        parsed = Parsed(batch.persist())
        try:
            fresh = points.fresh(parsed.pushes(), self.session.read.format("delta").load(self._at("pushes")))
            self._append(tables.POINTS, points.rows(fresh), number)
            for table, rows in ((tables.EVENTS, parsed.events()), (tables.QUARANTINE, parsed.problems())):
                if not rows.isEmpty():  # mostly so, and a commit of nothing takes half a second
                    self._append(table, rows, number)
            # The last one: as long as a push is not there, a repeated batch finds it fresh.
            self._append(tables.PUSHES, points.pushes(fresh), number)
        finally:
            parsed.rows.unpersist()

    def _append(self, table: tables.Table, rows: DataFrame, number: int) -> None:
        (
            rows.write.format("delta")
            .mode("append")
            .option("txnAppId", self._application)
            .option("txnVersion", number)
            .save(self._at(table.name))
        )

    @property
    def _application(self) -> str:
        """Which job wrote a batch: batches are numbered by its checkpoint."""
        return f"kproxy-{hashlib.sha256(self._at(_CHECKPOINT).encode()).hexdigest()[:16]}"

    def _at(self, name: str) -> str:
        return f"{self.output.rstrip('/')}/{name}"


@contextmanager
def alone(output: str) -> Iterator[None]:
    """Hold the output of this machine: a second job on it raises `PipelineError`. Spark itself guards a URI."""
    if "://" in output:
        yield
        return
    Path(output).mkdir(parents=True, exist_ok=True)
    with Path(output, "_lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise PipelineError(
                f"output {output}: another job writes there; wait for it, or use another directory"
            ) from None
        yield


def wait(query: StreamingQuery, report: Callable[[dict[str, int]], None]) -> None:
    """Wait for the end of a job, and report each of its batches; raise `PipelineError` when it failed."""
    seen, ended = -1, False
    while not ended:
        try:
            ended = query.awaitTermination(1)
        except StreamingQueryException as error:
            raise PipelineError(f"the job ended: {_cause(error)}") from error
        last = query.lastProgress
        if last is not None and last["batchId"] > seen and last["numInputRows"]:
            seen = last["batchId"]
            report({"batch": seen, "read": last["numInputRows"], "ms": last["durationMs"]["triggerExecution"]})


def _cause(error: Exception) -> str:
    """Spark's message without the ids of the query and its stack."""
    _, _, cause = str(error).partition("terminated with exception: ")
    return (cause or str(error)).strip().splitlines()[0]
