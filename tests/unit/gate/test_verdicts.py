"""tests.gate: real runs of pytest on tests that fail, crash, hang or are not there; each gets its verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gate.stage import Stage
from tests.gate.verdict import Again, Result, table

TESTS = """
import os, pathlib, pytest

def test_passes(): pass

def test_fails(): assert 1 == 2, "never"

@pytest.fixture
def broken(): raise ValueError("no broker")

def test_set_up(broken): pass

def test_skipped(): pytest.skip("not here")

def test_once(tmp_path_factory):
    mark = pathlib.Path(__file__).with_name("mark")
    first = not mark.exists()
    mark.touch()
    assert not first

def test_crashes(): os._exit(1)

def test_hangs():
    import threading; threading.Event().wait(600)
"""


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A file of tests outside the tree, with a configuration of its own."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    path = tmp_path / "test_made.py"
    path.write_text(TESTS)
    return path


def run(made: Path, *names: str, limit: float = 120, again: tuple[str, ...] = ("",)) -> Result:
    """Run these tests as a stage."""
    rootdir = ("-c", str(made.with_name("pytest.ini")), "--rootdir", str(made.parent))
    chosen = tuple(f"{made}::{name}" for name in names)
    return Stage("made", pytest=(*rootdir, *chosen), limit=limit, again=again).run(made.parent)


def test_failures_are_named_and_may_run_again(made: Path) -> None:
    """A stage runs to its end: what failed in its call or its set-up has a message."""
    result = run(made, "test_fails", "test_set_up", "test_skipped", "test_passes")
    assert (result.passed, result.broken, result.passed_tests, result.skipped) == (False, "", 1, 1)
    assert list(result.failed.values()) == ["AssertionError: never", "ValueError: no broker"]
    assert result.may_run_again == [*result.failed]


def test_no_second_chance(made: Path) -> None:
    """Where a stage gives none."""
    result = run(made, "test_fails", again=("tests/unit/app/",))
    assert (len(result.failed), result.may_run_again) == (1, [])


def test_what_passes_twice_alone_is_flaky(made: Path) -> None:
    """The stage has passed then, and the table names the test; what fails again is a failure."""
    result = run(made, "test_once", "test_passes")
    (nodeid,) = result.may_run_again
    assert run(made, "test_once").passed
    for passed, last in ((True, "2 passed, 0 failed"), (False, "1 passed, 1 failed")):
        result.again[:] = [Again(nodeid, result.failed[nodeid], passed)]
        assert result.passed is passed
        assert ("flaky: test_made.py::test_once" in table([result])) is passed
        assert table([result]).endswith(last)


@pytest.mark.parametrize(
    ("names", "limit", "why"),
    [
        (("test_crashes",), 120, "exit code 1"),
        (("test_fails", "test_crashes"), 120, "exit code 1"),
        (("test_hangs",), 5, "ended at its limit"),
        (("test_absent",), 120, "exit code 4"),
    ],
)
def test_a_run_that_breaks(made: Path, names: tuple[str, ...], limit: float, why: str) -> None:
    """It has failed, whatever passed before, and nothing of it is run again."""
    result = run(made, *names, limit=limit)
    assert (result.passed, result.broken, result.may_run_again) == (False, why, [])


def test_a_file_that_cannot_be_collected(made: Path) -> None:
    """The same."""
    made.write_text("import nothing_of_that_name\n")
    result = run(made)
    assert (result.passed, result.broken, result.may_run_again) == (False, "exit code 2", [])


def test_a_command(tmp_path: Path) -> None:
    """A stage without pytest is judged by its exit code."""
    assert Stage("command", command=("-c", "pass")).run(tmp_path).passed
    assert Stage("command", command=("-c", "raise SystemExit(3)")).run(tmp_path).broken == "exit code 3"
