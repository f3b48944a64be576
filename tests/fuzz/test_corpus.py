"""Inputs that once showed a fault, and valid ones: no target finds anything in them any more."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import structlog

from tests.fuzz import findings, grown
from tests.fuzz.mutations import mutated
from tests.fuzz.targets import IN_PROCESS, target
from tests.fuzz.targets.target import Target, faults_are_noted, run
from tests.fuzz.worker import CORPUS

MUTATED = 300
ENOUGH = 2_000
"""Of the kept inputs of a target, about so many are taken, from all over."""
FILES = sorted(file for file in CORPUS.glob("*/*") if file.is_file())


@pytest.fixture(scope="module", autouse=True)
def _log() -> Iterator[None]:
    before = structlog.get_config()
    faults_are_noted()
    yield
    structlog.configure(**before)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.name}")
def test_what_was_found_once(file: Path) -> None:
    """Each input of the corpus is taken within its bounds of time and memory, and nothing unmeant comes out."""
    with contextlib.closing(target(file.parent.name)) as fuzzed:
        findings.bounded(fuzzed, file.read_bytes())


@pytest.mark.parametrize("name", IN_PROCESS)
def test_what_the_fuzzer_has_kept(name: str) -> None:
    """Inputs that each reached something new once: nothing unmeant comes out of any. `make fuzz` takes them all."""
    kept = [data for _, data in grown.inputs(name)]
    with contextlib.closing(target(name)) as fuzzed:
        for data in kept[:: 1 + len(kept) // ENOUGH]:
            run(fuzzed, data)


def test_an_archive_is_what_was_packed(tmp_path: Path) -> None:
    """A fuzzer that begins with it has the same files; one that has some keeps its own."""
    (tmp_path / "built").mkdir()
    for number in range(3):
        (tmp_path / "built" / f"{number}").write_bytes(bytes([number]))
    assert grown.pack("frames", tmp_path / "built", tmp_path / "archives") == 3
    assert dict(grown.inputs("frames", tmp_path / "archives")) == {"0": b"\0", "1": b"\1", "2": b"\2"}
    (tmp_path / "empty").mkdir()
    grown.unpack("frames", tmp_path / "empty")
    grown.unpack("otlp", tmp_path / "empty")
    assert {file.name for file in (tmp_path / "empty").iterdir()} == dict(grown.inputs("frames")).keys()


@pytest.mark.parametrize("name", IN_PROCESS)
def test_valid_inputs_and_some_changed_ones(name: str) -> None:
    """Every target takes what is valid, and a few hundred inputs that are nearly so: the fuzzer itself works."""
    rng = Random(7)
    with contextlib.closing(target(name)) as fuzzed:
        for data in [*fuzzed.seeds, *(_changed(fuzzed, rng) for _ in range(MUTATED))]:
            run(fuzzed, data)


def _changed(fuzzed: Target, rng: Random) -> bytes:
    return mutated(rng.choice(fuzzed.seeds), rng, fuzzed.seeds, fuzzed.kinds)[: fuzzed.most]
