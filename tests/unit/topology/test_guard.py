"""Work that fails or hangs, and faulty callbacks, affect nothing else and are reported."""

from __future__ import annotations

import trio
from structlog.testing import capture_logs

from kproxy.errors import UpstreamError
from kproxy.topology.probe import attempted, report


async def test_success_has_no_error() -> None:
    """None means success."""
    assert await attempted(trio.lowlevel.checkpoint, 5) is None


async def test_a_hang_ends_at_the_limit() -> None:
    """The result is a reason."""
    with trio.fail_after(5):
        assert "not done within 0.01 s" in str(await attempted(trio.sleep_forever, 0.01))


async def test_an_expected_error_is_its_text() -> None:
    """kproxy's own exceptions explain themselves, and are no fault to log."""

    async def fail() -> None:
        raise UpstreamError("broker:9092: cannot connect")

    with capture_logs() as logs:
        assert await attempted(fail, 5) == "broker:9092: cannot connect"
    assert not logs


async def test_a_fault_of_kproxy_is_logged_and_does_not_spread() -> None:
    """Any other exception is a bug: its traceback is in the log, and the caller goes on."""

    async def fault() -> None:
        raise ZeroDivisionError

    with capture_logs() as logs:
        assert "a fault in kproxy" in str(await attempted(fault, 5))
        report(lambda: 1 // 0)  # type: ignore[arg-type]  # returns something
    assert [(entry["log_level"], entry["exc_info"]) for entry in logs] == [("error", True)] * 2


async def test_cancellation_is_not_caught() -> None:
    """A watcher can be stopped during an attempt."""
    with trio.move_on_after(0.01) as scope:
        await attempted(trio.sleep_forever, 60)
    assert scope.cancelled_caught
