"""Fuzzes one target in a process of its own: `python -m tests.fuzz.worker TARGET --inputs N --seconds S --out DIR`.

With atheris, inputs that reach new code are kept and changed further. Without it, valid inputs are changed blindly.
It prints a line of JSON every few seconds, and one at the end.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final, NoReturn

from tests.fuzz.findings import Findings
from tests.fuzz.grown import unpack
from tests.fuzz.mutations import changed, mutated
from tests.fuzz.targets import LIVING, target
from tests.fuzz.targets.target import Target, faults_are_noted, run

try:
    import atheris
except ImportError:  # it has wheels for Linux on x86-64
    atheris = None

CORPUS: Final = Path(__file__).with_name("corpus")
_EVERY: Final = 5.0
_HANGS_AFTER: Final = 600
"""Seconds, also for making a finding small on a busy machine: libFuzzer ends the worker then."""


class Worker:
    """Counts inputs and ends the process when there were enough: libFuzzer never returns."""

    def __init__(self, name: str, fuzzed: Target, inputs: int, seconds: float, out: Path) -> None:
        self.name, self.target = name, fuzzed
        self.findings = Findings(fuzzed, out / "findings" / name)
        self._inputs, self._seconds = inputs, seconds
        self._begun = self._said = time.monotonic()
        self._done = 0

    def take(self, data: bytes) -> None:
        """Run one input; end the process after the last one."""
        self.findings.take(data)
        self._done += 1
        now = time.monotonic()
        over = self._done >= self._inputs or now - self._begun >= self._seconds
        if over or now - self._said >= _EVERY:
            self._said = now
            self._say(now)
        if over:
            self.target.close()
            sys.stdout.flush()
            os._exit(0)

    def _say(self, now: float) -> None:
        said = {"target": self.name, "inputs": self._done, "seconds": round(now - self._begun, 1)}
        print(json.dumps({**said, "findings": dict(self.findings.counts)}), flush=True)

    def saved(self) -> list[bytes]:
        """Return the inputs that were kept in the repository because they once showed a fault."""
        kept = CORPUS / self.name
        return [file.read_bytes() for file in sorted(kept.glob("*")) if file.is_file()]


def _made(name: str) -> Target:
    """Return the target, with kproxy's code instrumented where there is atheris and the code runs here."""
    guided = atheris is not None and name != LIVING
    with atheris.instrument_imports(include=["kproxy"]) if guided else contextlib.nullcontext():
        made = target(name)
        for seed in made.seeds if guided else ():  # imports what is imported late
            with contextlib.suppress(Exception):  # a seed that shows a fault is found again
                run(made, seed)
    return made


def _guided(worker: Worker, out: Path) -> NoReturn:
    """Let libFuzzer choose the inputs; it keeps those that reach something new in the first directory."""
    fuzzed, seeds = worker.target, list(worker.target.seeds)
    grown, first = out / "corpus" / worker.name, out / "seeds" / worker.name
    for directory in (grown, first):
        directory.mkdir(parents=True, exist_ok=True)
    unpack(worker.name, grown)
    for number, data in enumerate([*seeds, *worker.saved()]):
        (first / f"{number:04}").write_bytes(data)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        rng = Random(seed)
        return mutated(data, rng, seeds, fuzzed.kinds, rng.choice(changes))[:most]

    changes: list[Callable[[bytes, Random], bytes]] = [
        changed,
        lambda data, _: bytes(atheris.Mutate(data, len(data) + 16)),
    ]
    options = [f"-max_len={fuzzed.most}", "-len_control=0", "-rss_limit_mb=2048", f"-timeout={_HANGS_AFTER}"]
    options.append("-report_slow_units=3600")  # what is slow is found here, by its own time
    options.append(f"-artifact_prefix={out / 'findings'}/{worker.name}-")
    atheris.Setup([sys.argv[0], *options, str(grown), str(first)], worker.take, custom_mutator=mutate)
    atheris.Fuzz()
    raise AssertionError("libFuzzer returned")


def _blind(worker: Worker) -> NoReturn:
    """Change valid inputs at random, the same ones in every run of the same length."""
    fuzzed, rng = worker.target, Random(1)
    seeds = [*fuzzed.seeds, *worker.saved()]
    for data in seeds:
        worker.take(data)
    while True:
        data = rng.choice(seeds)
        for _ in range(rng.choice((1, 1, 2, 4))):
            data = mutated(data, rng, seeds, fuzzed.kinds)
        worker.take(data[: fuzzed.most])


def main() -> NoReturn:
    """Parse the arguments and fuzz."""
    parser = argparse.ArgumentParser(prog="tests.fuzz.worker")
    parser.add_argument("target")
    parser.add_argument("--inputs", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given: Any = parser.parse_args()
    faults_are_noted()
    made = _made(given.target)
    faults_are_noted()
    (given.out / "findings").mkdir(parents=True, exist_ok=True)
    worker = Worker(given.target, made, given.inputs, given.seconds, given.out)
    if atheris is None or given.target == LIVING:
        _blind(worker)
    _guided(worker, given.out)


if __name__ == "__main__":
    main()
