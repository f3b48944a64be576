"""`make bench-pipeline`: points by second on one core and on two, CPU, and memory over ten times the input."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from tests.bench.machine import describe
from tests.pipeline.bench import fleet
from tests.support.others import Others
from tests.support.proc import family, rss_bytes

_PARTITIONS: Final = 4
_TIMES: Final = 10
"""How much more input the second measurement of memory has."""
_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Sample:
    """What one run of the job took."""

    batch_seconds: float
    """Of all batches, as the query's progress has them."""
    steady_seconds: float
    """The median of a batch but for the first, which pays for the JVM's compilers; of one batch, that."""
    batches: int
    whole_seconds: float
    """Of the process, with the start of Spark."""
    cpu: float
    compiling: float
    peak: int
    """Resident bytes of all processes together, at most."""
    points: int
    bytes: int
    slowed: float
    """How many times longer it took because of other processes, at most."""


def _sample(given: str, master: str, directory: Path) -> Sample:
    command = [sys.executable, "-m", "tests.pipeline.bench.job", given, str(directory), master]
    others, began = Others(), time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        peak = _Peak(process.pid)
        out, error = process.communicate()
        most = peak.stop()
        if process.returncode:
            sys.exit(f"bench: the job ended with {process.returncode}: {error[-2000:]}")
    made: dict[str, Any] = json.loads(out.splitlines()[-1])
    batches = made["batches"]
    return Sample(
        sum(batches),
        statistics.median(batches[1:] or batches),
        len(batches),
        time.monotonic() - began,
        made["cpu"],
        made["cpu_compiling"],
        most,
        made["points"],
        made["bytes"],
        others.slowed(),
    )


class _Peak:
    """The most memory that a process and its descendants have resident, looked at four times a second."""

    def __init__(self, pid: int) -> None:
        self._pid, self._most, self._ended = pid, 0, threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        while not self._ended.wait(0.25):
            try:
                self._most = max(self._most, sum(map(rss_bytes, family(self._pid))))
            except IndexError:
                continue  # one of them ended just now

    def stop(self) -> int:
        self._ended.set()
        self._thread.join()
        return self._most


@click.command()
@click.option("--pushes", default=50_000, show_default=True, help="How many; each has 30 points.")
@click.option("--rounds", default=3, show_default=True, help="Runs of each kind, in turns; the table has medians.")
@click.option("--without-memory", is_flag=True, help="Leave out the run over ten times the input.")
def main(pushes: int, rounds: int, without_memory: bool) -> None:
    """Ingest a fleet's pushes from a real Kafka and from files into Delta tables."""
    print(", ".join(f"{name} {value}" for name, value in describe().items()))
    with (
        tempfile.TemporaryDirectory(prefix="kproxy-bench-") as scratch,
        Cluster(jars.KAFKA_4_3, (0,), options=(), settings={"log.retention.ms": -1}) as kafka,
    ):
        directory = Path(scratch)
        fleet.to_topic(kafka.bootstrap, "once", pushes, _PARTITIONS)
        fleet.to_files(directory / "files", pushes)
        inputs = {"kafka": f"kafka:{kafka.bootstrap}/once", "files": f"files:{directory / 'files'}"}
        samples = _in_turns(inputs, rounds, directory)
        if not without_memory:
            fleet.to_topic(kafka.bootstrap, "longer", _TIMES * pushes, _PARTITIONS)
            longer = _sample(f"kafka:{kafka.bootstrap}/longer", "local[2]", directory / "longer")
            samples[f"kafka, {_TIMES} ×", "local[2]"] = [longer]
    _show(samples)


def _in_turns(inputs: dict[str, str], rounds: int, directory: Path) -> dict[tuple[str, str], list[Sample]]:
    samples: defaultdict[tuple[str, str], list[Sample]] = defaultdict(list)
    for number in range(rounds):
        for name, given in inputs.items():
            for master in ("local[2]", "local[1]"):
                place = directory / f"{name}-{master}-{number}"
                samples[name, master].append(_sample(given, master, place))
                print(f"{name} {master}: {samples[name, master][-1]}", file=sys.stderr, flush=True)
    return dict(samples)


def _show(samples: dict[tuple[str, str], list[Sample]]) -> None:
    print("\npoints by second: of all batches; of a batch but the first; of the whole process with the start of Spark")
    for (name, master), some in samples.items():
        print(f"{name}, {master}: {'; '.join(_figures(some))}")
    for name in dict.fromkeys(name for name, _ in samples):
        one, two = samples.get((name, "local[1]")), samples.get((name, "local[2]"))
        if one and two:
            ratio = _median(a.batch_seconds for a in one) / _median(b.batch_seconds for b in two)
            print(f"{name}: two cores are {ratio:.2f} times as fast as one")


def _figures(some: Sequence[Sample]) -> Iterator[str]:
    yield f"{_median(one.points / one.batch_seconds for one in some):,.0f}"
    yield f"{_median(one.points / one.batches / one.steady_seconds for one in some):,.0f}"
    yield f"{_median(one.points / one.whole_seconds for one in some):,.0f}"
    yield f"{_median(one.cpu / one.points * 1e6 for one in some):.1f} CPU s a million points"
    yield f"of which the JVM's compilers {_median(one.compiling / one.points * 1e6 for one in some):.1f}"
    yield f"{_median(one.peak / _MIB for one in some):,.0f} MiB"
    yield f"{_median(one.bytes / one.points for one in some):.1f} bytes a point on disk"
    yield f"others made it up to {_median(one.slowed for one in some):.1f} times slower"


def _median(values: Iterable[float]) -> float:
    return statistics.median(values)


if __name__ == "__main__":
    main()
