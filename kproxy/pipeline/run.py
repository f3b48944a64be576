"""What the commands `kproxy pipeline …` do: from what the user wrote to Spark jobs, and lines about them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from kproxy.pipeline import session, streams
from kproxy.pipeline.delta import MARKED, Output
from kproxy.pipeline.derived.job import Derivation
from kproxy.pipeline.errors import PipelineError
from kproxy.pipeline.ingest import inputs, job
from kproxy.pipeline.ingest.inputs import TopicInput
from kproxy.pipeline.maintain import keep
from kproxy.pipeline.maintain import maintain as maintain_tables
from kproxy.pipeline.tables import TABLES

Say = Callable[[str], None]


def run(
    given: Sequence[str],
    output: str,
    trigger: str,
    master: str | None,
    say: Say,
    kept: Sequence[str] = (),
    *,
    accept_loss: bool = False,
) -> None:
    """Run a job to its end; raises `PipelineError`."""
    parsed = [inputs.parse(each) for each in given]
    every = _trigger(trigger)
    upkeep = _Upkeep(dict(map(keep, kept)), say)
    topics = [session.KAFKA] if any(isinstance(each, TopicInput) for each in parsed) else []
    with opened(output, master, topics) as tables:
        query = job.Job(tables, parsed, job.Options(accept_loss=accept_loss)).start(every)
        derivation = Derivation(tables)

        def batch_done(done: dict[str, int]) -> None:
            say("batch {batch}: {read} files and records in {ms} ms".format(**done))
            if every is not None:  # else there is more to come, and all of it is derived from at once
                derivation.run()
                upkeep.daily(tables)

        streams.wait(query, batch_done)
        derivation.run()


def maintain(output: str, master: str | None, say: Say, kept: Sequence[str]) -> None:
    """Maintain the tables of an output; raises `PipelineError`."""
    upkeep = _Upkeep(dict(map(keep, kept)), say)
    with opened(output, master, []) as tables:
        if not any(tables.has(table) for table in TABLES.values()):
            raise PipelineError(f"output {output}: there are no tables; `kproxy pipeline run` makes them")
        Derivation(tables).run()
        upkeep.now(tables)


@dataclass(slots=True)
class _Upkeep:
    """Maintains the tables of a job that stays, once a day: no other job may write them meanwhile."""

    kept: dict[str, int]
    say: Say
    due: float | None = None
    """Seconds since the Unix epoch; None until the tables have said when they were maintained last."""

    def daily(self, output: Output) -> None:
        if self.due is None:  # a job that is restarted every night maintains them all the same
            self.due = float(output.properties(MARKED).get(_MAINTAINED, "0")) + _DAY
        if time.time() >= self.due:
            self.now(output)

    def now(self, output: Output) -> None:
        for line in maintain_tables(output, datetime.now(UTC).date(), self.kept):
            self.say(line)
        self.due = time.time() + _DAY
        if output.has(MARKED):
            output.set_properties(MARKED, {_MAINTAINED: f"{time.time():.0f}"})


_DAY = 24 * 3600
_MAINTAINED = "kproxy.pipeline.maintained"
"""Of the table `MARKED`: when the tables were maintained last, in seconds since the Unix epoch."""


@contextmanager
def opened(output: str, master: str | None, packages: Sequence[str]) -> Iterator[Output]:
    """Hold an output for this job alone, with a session of Spark."""
    where = streams.place(output)
    with streams.alone(where):
        yield Output(session.start("kproxy pipeline", master, packages), where)


def _trigger(text: str) -> str | None:
    if text == "available-now":
        return None
    match = re.fullmatch(r"(\d+)(s|m)", text)
    if match is None or not int(match[1]):
        raise PipelineError(f"trigger {text!r}: expected available-now, or a time as 30s or 5m")
    return f"{match[1]} {'seconds' if match[2] == 's' else 'minutes'}"
