"""`kproxy pipeline run`: from what the user wrote to a job that runs, and a line for each of its batches."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from kproxy.pipeline import inputs, job, session
from kproxy.pipeline.errors import PipelineError
from kproxy.pipeline.inputs import TopicInput


def run(given: Sequence[str], output: str, trigger: str, master: str | None, say: Callable[[str], None]) -> None:
    """Run a job to its end; raises `PipelineError`."""
    parsed = [inputs.parse(each) for each in given]
    every = _trigger(trigger)
    where = output if "://" in output else str(Path(output).resolve())
    topics = [session.KAFKA] if any(isinstance(each, TopicInput) for each in parsed) else []
    with job.alone(where):
        spark = session.start("kproxy pipeline", master, topics)
        query = job.Job(spark, parsed, where).start(every)
        job.wait(query, lambda done: say("batch {batch}: {read} files and records in {ms} ms".format(**done)))


def _trigger(text: str) -> str | None:
    if text == "available-now":
        return None
    match = re.fullmatch(r"(\d+)(s|m)", text)
    if match is None or not int(match[1]):
        raise PipelineError(f"trigger {text!r}: expected available-now, or a time as 30s or 5m")
    return f"{match[1]} {'seconds' if match[2] == 's' else 'minutes'}"
