"""Work that fails or hangs, and faulty callbacks, affect nothing else and are reported."""

from __future__ import annotations

import errno
import time

import trio
from structlog.testing import capture_logs

from kproxy.errors import ShortageError, UpstreamError
from kproxy.observe.troubles import DESCRIPTORS, Troubles
from kproxy.topology.probe import Attempt, attempted, report


async def test_success_has_no_error() -> None:
    """None means success."""
    assert await attempted(trio.lowlevel.checkpoint, 5, Troubles()) == Attempt(None)


async def test_a_hang_ends_at_the_limit() -> None:
    """The result is a reason."""
    with trio.fail_after(20):
        attempt = await attempted(trio.sleep_forever, 0.01, Troubles())
    assert "not done within 0.01 s" in str(attempt.error)
    assert not attempt.own


async def test_a_hang_during_a_shortage_says_nothing() -> None:
    """It may have waited for what the system refused."""
    troubles = Troubles()
    troubles.short(errno.EMFILE, time.monotonic())
    with trio.fail_after(20):
        assert await attempted(trio.sleep_forever, 0.01, troubles) == Attempt(DESCRIPTORS, own=True)


async def test_what_could_not_be_dialled_says_nothing() -> None:
    """A shortage is kproxy's own; a broker that refuses is not, whatever else is short."""
    troubles = Troubles()
    troubles.short(errno.EMFILE, time.monotonic())

    async def fail() -> None:
        raise failure

    failure: Exception = ShortageError("not dialled")
    assert await attempted(fail, 5, troubles) == Attempt("not dialled", own=True)
    failure = UpstreamError("connection refused")
    assert await attempted(fail, 5, troubles) == Attempt("connection refused", own=False)


async def test_an_expected_error_is_its_text() -> None:
    """kproxy's own exceptions explain themselves, and are no fault to log."""

    async def fail() -> None:
        raise UpstreamError("broker:9092: cannot connect")

    with capture_logs() as logs:
        assert await attempted(fail, 5, Troubles()) == Attempt("broker:9092: cannot connect")
    assert not logs


async def test_a_fault_of_kproxy_is_logged_and_does_not_spread() -> None:
    """Any other exception is a bug: its traceback is in the log, and the caller goes on."""

    async def fault() -> None:
        raise ZeroDivisionError

    troubles = Troubles()
    with capture_logs() as logs:
        attempt = await attempted(fault, 5, troubles)
        report(troubles, lambda: 1 // 0)  # type: ignore[arg-type]  # returns something
    assert attempt.own
    assert "a fault in kproxy" in str(attempt.error)
    (entry,) = logs
    assert isinstance(entry["exc_info"], ZeroDivisionError)
    assert troubles.errors["watcher"] == 2


async def test_cancellation_is_not_caught() -> None:
    """A watcher can be stopped during an attempt."""
    with trio.move_on_after(0.01) as scope:
        await attempted(trio.sleep_forever, 60, Troubles())
    assert scope.cancelled_caught
