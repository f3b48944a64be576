"""tests.gate: real runs of pytest on tests that fail, crash, hang, leak or are not there; each gets its verdict."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

import pytest

from tests.gate import flaky, stages
from tests.gate.runs import side_by_side
from tests.gate.stage import Stage
from tests.gate.verdict import FLAKY_MOST, Again, Failure, Result, table

TESTS = """
import os, pathlib, pytest, socket, threading
from tests.support.violation import Violation

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

def test_hangs(): threading.Event().wait(600)

def test_violates(): raise Violation("a record is lost")

def test_violates_in_a_group():
    try:
        raise Violation("two owners")
    except Violation as error:
        raise ExceptionGroup("a nursery's", [ValueError("late"), error])

kept = []

def test_thread():
    go = threading.Event()
    thread = threading.Thread(target=lambda: go.wait(3), name="forgotten")
    thread.start()

def test_port():
    kept.append(socket.create_server(("127.0.0.1", 0)))

@pytest.fixture
def ends():
    yield
    raise Violation("a traceback in the log")

def test_fails_before(ends): assert 1 == 2

@pytest.fixture(scope="session")
def down(): raise ValueError("no cluster")

@pytest.mark.parametrize("number", range(9))
def test_down(down, number): pass
"""


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A file of tests outside the tree, with a configuration of its own."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    path = tmp_path / "test_made.py"
    path.write_text(TESTS)
    return path


def run(
    made: Path,
    *names: str,
    limit: float = 120,
    again: tuple[str, ...] = ("",),
    once: tuple[str, ...] = (),
    least: int = 0,
    skips: tuple[str, ...] = ("",),
) -> Result:
    """Run these tests as a stage."""
    rootdir = ("-c", str(made.with_name("pytest.ini")), "--rootdir", str(made.parent))
    chosen = tuple(f"{made}::{name}" for name in names)
    named = (*rootdir, *chosen)
    return Stage("made", pytest=named, limit=limit, again=again, once=once, least=least, skips=skips).run(made.parent)


def test_failures_are_named_and_may_run_again(made: Path) -> None:
    """A stage runs to its end: what failed in its call or its set-up has a message."""
    result = run(made, "test_fails", "test_set_up", "test_skipped", "test_passes")
    assert (result.passed, result.broken, result.passed_tests, result.skipped) == (False, "", 1, 1)
    assert list(result.failed.values()) == [
        Failure("AssertionError: never"),
        Failure("ValueError: no broker", when="setup"),
    ]
    assert result.may_run_again == [*result.failed]


def test_no_second_chance(made: Path) -> None:
    """Where a stage gives none."""
    result = run(made, "test_fails", again=("tests/unit/app/",))
    assert (len(result.failed), result.may_run_again) == (1, [])
    (nodeid,) = result.failed
    assert run(made, "test_fails", once=(nodeid,)).may_run_again == []


def test_what_passes_twice_alone_is_flaky(made: Path) -> None:
    """The stage has passed then, and the table names the test; what fails again is a failure."""
    result = run(made, "test_once", "test_passes")
    (nodeid,) = result.may_run_again
    assert run(made, "test_once").passed
    for passed, last in ((True, "2 passed, 0 failed"), (False, "1 passed, 1 failed")):
        result.again[:] = [Again(nodeid, result.failed[nodeid].message, passed)]
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
    assert Stage("command", command=(sys.executable, "-c", "pass")).run(tmp_path).passed
    assert Stage("command", command=(sys.executable, "-c", "raise SystemExit(3)")).run(tmp_path).broken == "exit code 3"


@pytest.mark.parametrize("name", ["test_violates", "test_violates_in_a_group", "test_fails_before"])
def test_one_violation_is_proof(made: Path, name: str) -> None:
    """What was lost, doubled or shown once is no accident: it is not run again."""
    result = run(made, name)
    assert ([why.violation for why in result.failed.values()], result.may_run_again) == ([True], [])
    assert not result.passed


def test_what_is_left_is_named(made: Path) -> None:
    """A thread that keeps the process alive, and a port that is still listened at."""
    assert run(made, "test_thread").broken == "left at its end: thread forgotten"
    assert run(made, "test_port").broken.startswith("left at its end: port ")


def test_too_few_tests(made: Path) -> None:
    """Tests that vanish, or are skipped without leave, are no pass."""
    assert run(made, "test_passes", least=2).broken == "1 tests ran, at least 2 must"
    result = run(made, "test_passes", "test_skipped", skips=("tests/unit/",))
    assert result.broken == "1 skipped that must not be: test_made.py::test_skipped"


def test_what_all_share_is_down(made: Path) -> None:
    """A stage whose tests all failed in one session fixture may run once more; failures of each test's own may not."""
    assert run(made, "test_down").collapsed
    down, own = Failure("no cluster", "setup"), Failure("assert 1 == 2")
    several = Result("several", 1.0, failed={str(number): down for number in range(FLAKY_MOST + 1)})
    assert several.collapsed
    several.failed["0"] = own
    assert not several.collapsed


def test_flaky_a_third_time() -> None:
    """Two times within thirty days may be accidents."""
    lines = ["# date", "2026-01-01\ttests/a.py::b\tlate", "2026-01-20\ttests/a.py::b\tlate", "2026-01-20\tc\tlate"]
    third = [*lines, "2026-01-30\ttests/a.py::b\tlate"]
    now = date(2026, 1, 30)
    assert (flaky.refused(lines, now), flaky.refused(third, now)) == ([], ["tests/a.py::b"])
    assert flaky.refused(third, date(2026, 2, 1)) == []


def test_flaky_tests_are_written_down(tmp_path: Path) -> None:
    """In one line each."""
    kept = tmp_path / "flaky.tsv"
    flaky.add([Again("tests/a.py::b", "assert 1\n == 2", passed=True)], kept)
    assert kept.read_text().split("\t")[1:] == ["tests/a.py::b", "assert 1 == 2\n"]


def test_stages_by_name() -> None:
    """A family has all of its shards; a name that is none is refused."""
    names = {stage.name for phase in stages.chosen({"unit", "real"}) for stage in phase}
    assert names == {"unit-app", "unit-cluster", "unit-relay", "unit-rest", "coverage", "real"}
    assert stages.chosen({"all"}) == list(stages.PHASES)
    with pytest.raises(ValueError, match="no stage reel: all, or of check, compiled, demo"):
        stages.chosen({"reel"})


def test_stages_side_by_side_choose_other_ports(tmp_path: Path) -> None:
    """A port that one has chosen, and not yet bound, is none of another's; a stage alone has all of them."""
    shows = ("sh", "-c", "echo $TEST_PORTS")
    told = side_by_side((Stage("one", command=shows), Stage("two", command=shows)), tmp_path)
    told.append(Stage("alone", command=shows).run(tmp_path))
    assert [result.tail.strip() for result in told] == ["1/2", "2/2", "1/1"]
