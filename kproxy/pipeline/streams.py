"""Streams of Spark that write an output: one job at a time, and errors in one line."""

from __future__ import annotations

import fcntl
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming import StreamingQuery

from kproxy.pipeline.errors import PipelineError


def place(given: str) -> str:
    """Return where tables are: the path of a directory of this machine, also for file:///…, or else the URI."""
    if given.startswith("file:"):
        return urlsplit(given).path
    return given if "://" in given else str(Path(given).resolve())


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


_MENDED: Final[Mapping[str, str]] = {
    # Spark's log of the files that were read has a sentence and no name for it.
    r"CONCURRENT_STREAM_LOG_UPDATE|Multiple streaming jobs detected|DELTA_CONCURRENT_TRANSACTION": "another job writes "
    "this output; end one of the two",
    r"KAFKA_DATA_LOSS|data may have been lost": "records of a topic were gone before they were read ({cause}); "
    "--accept-loss goes on without them, and tells in quarantine how many",
}
"""By what Spark calls it, what is said in its place."""


def _cause(error: Exception) -> str:
    """Spark's message without the ids of the query and its stack."""
    whole = str(error)
    _, _, cause = whole.partition("terminated with exception: ")
    cause = (cause or whole).strip().splitlines()[0]
    said = next((text for pattern, text in _MENDED.items() if re.search(pattern, whole)), "{cause}")
    return said.format(cause=cause)
