"""tests.support.violation: what proves a fault is told apart from what else may fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.proxy import Proxy
from tests.support.violation import Violation, check_once, check_read, check_whole, check_written, checking, never
from tests.support.wait import until

TIMEOUT = AssertionError("not within 30 s")


@pytest.mark.parametrize(("found", "what"), [(["a"], r"records lost: \['b'\]"), (["a", "b", "b"], "records doubled")])
def test_a_record_lost_or_doubled(found: list[str], what: str) -> None:
    """Both are told; one that was never acknowledged may be there."""
    with pytest.raises(Violation, match=what):
        check_once(["a", "b"], found)
    check_once(["a", "b"], ["b", "c", "a"])


def test_many_records_lost() -> None:
    """The first ones are named."""
    with pytest.raises(Violation, match=r"lost: \[0, .*, 9\] and 90 more"):
        check_once(range(100), [])


def test_a_client_that_has_compared() -> None:
    """Lost records count, unless it has read others twice, as a group may, and has ended before the last ones."""
    check_whole({"missing": 0, "duplicates": 1})
    check_whole({"missing": 1, "duplicates": 1})
    with pytest.raises(Violation, match=r"records lost: .*'missing': 1"):
        check_whole({"missing": 1, "duplicates": 0})


def test_what_a_group_has_read() -> None:
    """The same; what it has read besides was not acknowledged in time."""
    check_read(["a", "b"], ["a", "a"])
    check_read(["a", "b"], ["a", "b", "c"])
    with pytest.raises(Violation, match=r"records lost: \['b'\]"):
        check_read(["a", "b"], ["a"])


@pytest.mark.parametrize("last", [2, 4])
def test_how_many_are_in_the_log(last: int) -> None:
    """One too few is lost, one too many doubled."""
    check_written(6, {0: 3, 1: 3})
    with pytest.raises(Violation, match=f"6 acknowledged, {3 + last} in the log"):
        check_written(6, {0: 3, 1: last})


def test_a_traceback_behind_another_error(tmp_path: Path) -> None:
    """It is raised from what the test failed with."""
    proxy = Proxy(tmp_path, {"kafka": "a:1"})
    proxy.log.write_text('{"event":"x"}\nTraceback (most recent call last):\n  1 / 0\n')
    with pytest.raises(Violation, match="1 / 0") as caught:
        proxy.__exit__(AssertionError, TIMEOUT, None)
    assert caught.value.__cause__ is TIMEOUT


def test_a_traceback_of_a_kproxy_that_is_gone(tmp_path: Path) -> None:
    """It is found where the test itself has ended kproxy, and nothing else has failed."""
    proxy = Proxy(tmp_path, {"kafka": "a:1"}, command=["sh", "-c", "echo 'Traceback (most recent call last):'"])
    proxy.launch()
    assert proxy.wait() == 0
    with pytest.raises(Violation, match="a traceback in kproxy's log"):
        proxy.__exit__(None, None, None)


def test_a_secret_in_the_log(tmp_path: Path) -> None:
    """It counts more than what the test failed with, and than the exit code."""
    for error in (None, TIMEOUT):
        proxy = Proxy(tmp_path, {"kafka": "a:1"}, command=["sh", "-c", "echo s3cret; exec sleep 60"])
        proxy.hides("s3cret", "the password")
        proxy.launch()
        until(lambda proxy=proxy: "s3cret" in proxy.log.read_text(), "its line")  # type: ignore[misc]
        with pytest.raises(Violation, match="kproxy's log shows the password") as caught:
            proxy.__exit__(None, error, None)
        assert caught.value.__cause__


@pytest.mark.parametrize("log", [None, '{"event":"x"}\n'])
def test_no_traceback(tmp_path: Path, log: str | None) -> None:
    """The test's own error stays, whether there is a log or not."""
    proxy = Proxy(tmp_path, {"kafka": "a:1"})
    if log is not None:
        proxy.log.write_text(log)
    proxy.__exit__(AssertionError, TIMEOUT, None)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Violation("before")])
def test_errors_that_stay(tmp_path: Path, error: BaseException) -> None:
    """Who ends the tests, and what is proven already."""
    proxy = Proxy(tmp_path, {"kafka": "a:1"})
    proxy.log.write_text("Traceback\n")
    proxy.__exit__(type(error), error, None)


def test_a_violation_at_the_end_of_a_block() -> None:
    """It is looked for after what has failed in the block, too, and counts more."""
    with pytest.raises(Violation, match="shown") as caught, checking(lambda: never(True, "shown")):
        raise TIMEOUT
    assert caught.value.__cause__ is TIMEOUT
    with pytest.raises(Violation, match="shown"), checking(lambda: never(True, "shown")):
        pass
