"""Places for handshakes: who waits for one, and who goes."""

from __future__ import annotations

from functools import partial

import pytest
import trio
import trio.testing

from kproxy.relay.handshake_places import GRACE, Handshake, Places


async def test_nobody_goes_who_does_not_wait_for_its_client(autojump_clock: trio.testing.MockClock) -> None:
    """A handshake that kproxy works on keeps its place, however long: another one looks again every second."""
    del autojump_clock
    places = Places(1)
    assert places.take_nowait()
    assert not places.take_nowait()
    began = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(places.take)
        await trio.sleep(GRACE * 3.5)
        assert places.taken == 1
        places.give_back()
    assert trio.current_time() - began == GRACE * 3.5
    assert places.taken == 1


async def test_a_wait_that_is_short_enough(autojump_clock: trio.testing.MockClock) -> None:
    """The second that a client has begins anew with each of its parts."""
    del autojump_clock
    places = Places(1)
    handshake = Handshake(places)
    assert places.take_nowait()

    async def goes_on() -> None:
        with handshake.scope:
            for _ in range(4):
                await handshake.awaits(partial(trio.sleep, GRACE * 0.9))
        places.give_back()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(goes_on)
        await places.take()
    assert not handshake.scope.cancelled_caught
    assert not places.awaiting


async def test_a_wait_that_is_too_long(autojump_clock: trio.testing.MockClock) -> None:
    """It ends where another one wants its place, and that one has it."""
    del autojump_clock
    places = Places(1)
    handshake = Handshake(places)
    assert places.take_nowait()

    async def stops() -> None:
        with handshake.scope:
            await handshake.awaits(trio.sleep_forever)
        places.give_back()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(stops)
        await trio.testing.wait_all_tasks_blocked()
        await places.take()
    assert handshake.scope.cancelled_caught
    assert places.taken == 1


class Passes(trio.abc.Instrument):
    """Counts Trio's passes, in each of which every task runs that can."""

    def __init__(self) -> None:
        self.count = 0

    def before_io_wait(self, timeout: float) -> None:
        del timeout
        self.count += 1


async def test_one_goes_at_a_time(autojump_clock: trio.testing.MockClock) -> None:
    """Many that are due in one moment do not all end in one pass, in which nobody is relayed."""
    del autojump_clock
    places, passes, ended = Places(20), Passes(), list[int]()
    trio.lowlevel.add_instrument(passes)

    async def stops() -> None:
        handshake = Handshake(places)
        async with places:
            with handshake.scope:
                await handshake.awaits(trio.sleep_forever)
            ended.append(passes.count)

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(stops)
        await trio.testing.wait_all_tasks_blocked()
        async with trio.open_nursery() as others:
            for _ in range(20):
                others.start_soon(places.take)
    assert len(set(ended)) == 20
    trio.lowlevel.remove_instrument(passes)


async def test_nobody_overtakes(autojump_clock: trio.testing.MockClock) -> None:
    """A place that is given back is that of who waits, also where another one comes in the same moment."""
    del autojump_clock
    places, taken = Places(2), list[str]()
    assert places.take_nowait()
    assert places.take_nowait()

    async def take(name: str) -> None:
        await places.take()
        taken.append(name)

    async with trio.open_nursery() as nursery:
        for name in ("first", "second"):
            nursery.start_soon(take, name)
            await trio.testing.wait_all_tasks_blocked()
        places.give_back()
        places.give_back()
        nursery.start_soon(take, "third")
        await trio.testing.wait_all_tasks_blocked()
        assert taken == ["first", "second"]
        places.give_back()


@pytest.mark.parametrize("gone", [0, 1])
async def test_who_no_longer_waits(gone: int) -> None:
    """Whether it was the one that looks for a place, or came behind it: the others get theirs."""
    places, taken, scopes = Places(1), list[int](), [trio.CancelScope() for _ in range(3)]
    assert places.take_nowait()

    async def take(number: int) -> None:
        with scopes[number]:
            async with places:
                taken.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(3):
            nursery.start_soon(take, number)
            await trio.testing.wait_all_tasks_blocked()
        scopes[gone].cancel()
        await trio.testing.wait_all_tasks_blocked()
        assert taken == []
        places.give_back()
    assert taken == [number for number in range(3) if number != gone]
    assert places.take_nowait()
