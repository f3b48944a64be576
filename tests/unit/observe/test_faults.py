"""The boundaries of faults: what ends there, what passes, and what is started again."""

from __future__ import annotations

import errno
from itertools import pairwise

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from kproxy.observe import faults
from kproxy.observe.faults import boundary, guarded, note, note_shortage, shortage_in, supervised
from kproxy.observe.troubles import Troubles, Where


def test_a_fault_ends_at_the_boundary() -> None:
    """It is counted, and logged once with its traceback; the same place again is only counted."""
    troubles = Troubles()
    with capture_logs() as lines:
        for _ in range(3):
            with boundary(troubles, Where.SWEEP):
                raise ValueError("planted")
    (line,) = lines
    assert (line["where"], str(line["exc_info"])) == ("sweep", "planted")
    assert line["exc_info"].__traceback__ is not None
    assert troubles.errors["sweep"] == 3


def test_what_is_no_fault_passes() -> None:
    """An interrupt must end the process, as before."""
    troubles = Troubles()
    with pytest.raises(KeyboardInterrupt), boundary(troubles, Where.SWEEP):
        raise KeyboardInterrupt
    with pytest.raises(BaseExceptionGroup), boundary(troubles, Where.SWEEP):
        raise BaseExceptionGroup("", [KeyboardInterrupt()])
    assert troubles.errors["sweep"] == 0


async def test_cancellation_passes_also_beside_a_fault() -> None:
    """A nursery may raise both in one group: the fault is noted, the cancellation goes on."""
    troubles = Troubles()

    async def fails_when_cancelled() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise ValueError("planted")

    with trio.move_on_after(0) as scope:
        with boundary(troubles, Where.WATCHER):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(fails_when_cancelled)
                await trio.sleep_forever()
        raise AssertionError("the cancellation ended at the boundary")
    assert scope.cancelled_caught
    assert troubles.errors["watcher"] == 1


async def test_a_guarded_task_ends_alone() -> None:
    """Its siblings in the nursery go on."""
    troubles = Troubles()

    async def fails() -> None:
        raise ValueError("planted")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(guarded, troubles, Where.STATE, fails)
    assert troubles.errors["state"] == 1


async def test_a_supervised_task_is_started_again_later_each_time(autojump_clock: MockClock) -> None:
    """Until it returns; after a minute of work a failure counts as the first one again."""
    troubles, starts = Troubles(), list[float]()

    async def work(lasts: list[float]) -> None:
        starts.append(trio.current_time())
        await trio.sleep(lasts.pop(0))
        if lasts:
            raise ValueError("planted")

    begun = trio.current_time()
    await supervised(troubles, Where.FAILOVER, work, [0.0] * 10 + [100.0, 0.0, 0.0])
    pauses = [later - earlier for earlier, later in pairwise(starts)]
    for failures, pause in enumerate(pauses[:10], 1):
        assert 0.05 * min(300, 2 ** (failures - 1)) <= pause + 1e-9 <= 0.1001 * min(300, 2 ** (failures - 1)) + 1e-9
    assert 100.05 <= pauses[10] <= 100.11
    assert troubles.errors["failover"] == 12
    assert trio.current_time() > begun


def test_what_cannot_be_logged_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of the log must not become one of whoever notes a fault."""

    class Broken:
        def error(self, *_: object, **__: object) -> None:
            raise ValueError("planted")

    monkeypatch.setattr(faults, "log", Broken())
    troubles = Troubles()
    note(troubles, Where.PUMP, ValueError("first"))
    note_shortage(troubles, errno.EMFILE, "accept a client")
    assert (troubles.errors["pump"], troubles.shortages["EMFILE"]) == (1, 1)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
def test_the_systems_refusals_are_kproxys_own(number: int) -> None:
    """Also where Trio hides them: in the cause of a race between addresses."""
    refused = OSError(number, "refused")
    assert shortage_in(refused) == number
    race = OSError("all attempts failed")
    race.__cause__ = ExceptionGroup("", [OSError(errno.ECONNREFUSED, "no"), refused])
    assert shortage_in(race) == number
    assert shortage_in(OSError(errno.ECONNREFUSED, "no")) is None
    assert shortage_in(ValueError()) is None
