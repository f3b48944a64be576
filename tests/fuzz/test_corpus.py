"""Inputs that once showed a fault, and valid ones: no target finds anything in them any more."""

from __future__ import annotations

import contextlib
from pathlib import Path
from random import Random

import pytest

from tests.fuzz import findings
from tests.fuzz.mutations import mutated
from tests.fuzz.targets import IN_PROCESS, target
from tests.fuzz.targets.target import Target, faults_are_noted, run
from tests.fuzz.worker import CORPUS

MUTATED = 300
FILES = sorted(file for file in CORPUS.glob("*/*") if file.is_file())


@pytest.fixture(scope="module", autouse=True)
def _log() -> None:
    faults_are_noted()


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.name}")
def test_what_was_found_once(file: Path) -> None:
    """Each input of the corpus is taken within its bounds of time and memory, and nothing unmeant comes out."""
    with contextlib.closing(target(file.parent.name)) as fuzzed:
        findings.bounded(fuzzed, file.read_bytes())


@pytest.mark.parametrize("name", IN_PROCESS)
def test_valid_inputs_and_some_changed_ones(name: str) -> None:
    """Every target takes what is valid, and a few hundred inputs that are nearly so: the fuzzer itself works."""
    rng = Random(7)
    with contextlib.closing(target(name)) as fuzzed:
        for data in [*fuzzed.seeds, *(_changed(fuzzed, rng) for _ in range(MUTATED))]:
            run(fuzzed, data)


def _changed(fuzzed: Target, rng: Random) -> bytes:
    return mutated(rng.choice(fuzzed.seeds), rng, fuzzed.seeds, fuzzed.kinds)[: fuzzed.most]
