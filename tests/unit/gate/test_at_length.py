"""tests.gate.at_length: bounds are asserted there, the best of three runs counts, and the report has each figure."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gate.at_length import report
from tests.gate.figures import Figure, figures
from tests.gate.runs import again
from tests.gate.stage import Stage
from tests.gate.verdict import Result
from tests.support.bounds import MEASURED

TESTS = """
import pathlib, pytest
from tests.conftest import bounds

LEFT = pathlib.Path(__file__).with_name("left")
LEFT.write_text("1") if not LEFT.exists() else None

def later():
    left = int(LEFT.read_text())
    LEFT.write_text(str(left - 1))
    return left

@pytest.mark.measured
def test_slow(bounds):
    seconds = later() + 1.5
    bounds.below(0.1, 2.0, "seconds")
    bounds.below(seconds, 2.0, "seconds")

def test_fails():
    assert later() < 1
"""
NAME = "test_made.py"


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """The same tests outside the tree, with a configuration of their own."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = measured\n")
    path = tmp_path / NAME
    path.write_text(TESTS)
    return path


def run(made: Path, *names: str, asserted: str = "1") -> Result:
    """Run these as a room, with what follows of failures."""
    rootdir = ("-c", str(made.with_name("pytest.ini")), "--rootdir", str(made.parent))
    chosen = tuple(f"{made}::{name}" for name in names)
    stage = Room("room", pytest=(*rootdir, *chosen), again=("",), environment={MEASURED: asserted})
    result = stage.run(made.parent)
    again([result], [(stage,)], made.parent)
    return result


class Room(Stage):
    """One whose tests are not below the directory that pytest runs in."""

    def of(self, name: str, nodeid: str) -> Stage:
        """Keep pytest's configuration."""
        alone = super().of(name, nodeid)
        test = f"{Path(self.pytest[-1].partition('::')[0]).parent}/{nodeid}"
        return Stage(name, pytest=(*self.pytest[:4], test), environment=alone.environment)


def test_the_gate_notes_a_figure(made: Path) -> None:
    """A busy machine fails nobody: the largest figure is in the report, with its bound."""
    result = run(made, "test_slow", asserted="0")
    assert result.passed
    assert figures(made.parent.glob("*.jsonl")) == [Figure(f"{NAME}::test_slow", "seconds", 2.5, 2.0)]


@pytest.mark.parametrize(("fails", "passed"), [(0, True), (1, True), (2, True), (3, False)])
def test_the_best_of_three_counts(made: Path, fails: int, passed: bool) -> None:
    """A bound that is kept once in three runs is kept."""
    made.with_name("left").write_text(str(fails))
    assert run(made, "test_slow").passed is passed


@pytest.mark.parametrize(("fails", "passed"), [(0, True), (1, True), (2, False)])
def test_what_measures_nothing_passes_twice(made: Path, fails: int, passed: bool) -> None:
    """A test without bounds has no best run."""
    made.with_name("left").write_text(str(fails))
    assert run(made, "test_fails").passed is passed


def test_the_report(made: Path) -> None:
    """It says which commit, what came of the tests, and the best of each figure."""
    made.with_name("left").write_text("1")
    text = report([run(made, "test_slow")], 120.0, made.parent)
    assert text.startswith("# The long run: passed, 2 min\n\nCommit ")
    assert "flaky: test_made.py::test_slow: AssertionError: seconds: 2.5, not below 2" in text
    assert "| test_made.py::test_slow | seconds | 1.5 | 2 |" in text
