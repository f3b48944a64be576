"""kproxy.upstream.race: which way wins, who is waited for, and what becomes of the others."""

from __future__ import annotations

import math

import pytest
import trio
from trio.testing import MockClock

from kproxy.upstream.race import NobodyError, first_of

DELAY = 0.25


class Ways:
    """Each way is the seconds that it takes; a negative one fails after as many."""

    def __init__(self) -> None:
        self.begun: list[tuple[float, float]] = []
        self.discarded: list[float] = []
        self.cancelled: list[float] = []

    async def go(self, way: float) -> float:
        self.begun.append((way, trio.current_time()))
        try:
            await trio.sleep(abs(way))
        except trio.Cancelled:
            self.cancelled.append(way)
            raise
        if way < 0:
            raise OSError(way)
        return way

    async def race(self, *ways: float) -> float:
        return await first_of(ways, self.go, DELAY, failure=OSError, discard=self.discarded.append)


async def test_the_first_one_answers(autojump_clock: MockClock) -> None:
    """The others are not begun."""
    ways = Ways()
    assert await ways.race(0.2, 0.1) == 0.2
    assert [way for way, _ in ways.begun] == [0.2]


async def test_one_that_is_silent(autojump_clock: MockClock) -> None:
    """The next one is begun beside it after the delay, and wins; the first one is cancelled."""
    ways = Ways()
    assert await ways.race(math.inf, 0.1, 7) == 0.1
    assert [way for way, _ in ways.begun] == [math.inf, 0.1]
    assert ways.begun[1][1] - ways.begun[0][1] == pytest.approx(DELAY)
    assert ways.cancelled == [math.inf]


async def test_one_that_is_slow(autojump_clock: MockClock) -> None:
    """It may still be the first."""
    ways = Ways()
    assert await ways.race(0.3, 9) == 0.3
    assert ways.cancelled == [9]


async def test_ever_more_time(autojump_clock: MockClock) -> None:
    """Those that are slow are not all dialled at once."""
    begun: list[float] = []

    async def go(way: float) -> float:
        begun.append(trio.current_time())
        await trio.sleep(way)
        return way

    assert await first_of((9.0, 9.0, 9.0, 0.5), go, 1.0, growth=2.0, failure=OSError, discard=print) == 0.5
    assert [at - begun[0] for at in begun] == pytest.approx([0.0, 1.0, 3.0, 7.0], abs=0.1)


async def test_one_that_fails(autojump_clock: MockClock) -> None:
    """The next one is begun at once."""
    ways = Ways()
    assert await ways.race(-0.1, 0.1) == 0.1
    assert ways.begun[1][1] - ways.begun[0][1] == pytest.approx(0.1)


@pytest.mark.parametrize("ways", [(-0.3,), (-0.4, -0.1, -0.2)])
async def test_all_fail(ways: tuple[float, ...], autojump_clock: MockClock) -> None:
    """Each error is told."""
    with pytest.raises(NobodyError) as nobody:
        await Ways().race(*ways)
    assert sorted(error.args[0] for error in nobody.value.errors) == sorted(ways)


async def test_a_tie(autojump_clock: MockClock) -> None:
    """One of them is the result, and the other is discarded."""
    both, discarded = trio.Event(), list[float]()

    async def go(way: float) -> float:
        await both.wait()
        return way

    async with trio.open_nursery() as nursery:
        nursery.start_soon(_later, both)
        won = await first_of((1.0, 2.0), go, DELAY, failure=OSError, discard=discarded.append)
    assert sorted([won, *discarded]) == [1.0, 2.0]


async def _later(event: trio.Event) -> None:
    await trio.sleep(2 * DELAY)
    event.set()


async def test_a_caller_that_leaves_with_a_result(autojump_clock: MockClock) -> None:
    """Nobody would close it otherwise."""
    ways = Ways()
    with trio.CancelScope() as scope:

        async def go(way: float) -> float:
            scope.cancel()
            return way

        await first_of((1.0, 2.0), go, DELAY, failure=OSError, discard=ways.discarded.append)
    assert scope.cancelled_caught
    assert ways.discarded == [1.0]


async def test_another_error(autojump_clock: MockClock) -> None:
    """It is nobody's failure to answer."""

    async def go(way: float) -> float:
        raise ValueError(way)

    with pytest.RaisesGroup(ValueError):
        await first_of((1.0, 2.0), go, DELAY, failure=OSError, discard=print)
