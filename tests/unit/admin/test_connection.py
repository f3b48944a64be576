"""kproxy.admin.connection: slots, and which connection gives up its slot."""

from __future__ import annotations

import trio
import trio.testing

from kproxy.admin.connection import Slots


async def test_slots_are_given_back() -> None:
    """As many as the limit at once, and again after they are free; a connection without one gives none back."""
    slots = Slots(2)
    for _ in range(2):
        with slots.taken() as first, slots.taken() as second, slots.taken() as third:
            assert (first, second, third) == (True, True, False)


async def test_the_longest_idle_leaves(nursery: trio.Nursery, autojump_clock: trio.testing.MockClock) -> None:
    """When all slots are taken the one that waits longest is ended, then the next, then nobody is left to end."""
    slots = Slots(2)
    ended = []

    async def idle(name: str, *, task_status: trio.TaskStatus[None]) -> None:
        with slots.taken() as room, slots.idle(60):
            assert room
            task_status.started()
            await trio.Event().wait()
        ended.append(name)

    await nursery.start(idle, "older")
    await nursery.start(idle, "younger")
    with slots.taken() as third:
        await trio.testing.wait_all_tasks_blocked()
        assert (third, ended) == (True, ["older"])
        with slots.taken() as fourth:
            await trio.testing.wait_all_tasks_blocked()
            assert (fourth, ended) == (True, ["older", "younger"])
            with slots.taken() as fifth:
                assert not fifth


async def test_idle_ends_by_itself(autojump_clock: trio.testing.MockClock) -> None:
    """After its time, and then there is nobody to end."""
    slots = Slots(1)
    started = trio.current_time()
    with slots.taken() as room, slots.idle(120) as scope:
        assert room
        await trio.Event().wait()
    assert scope.cancelled_caught
    assert trio.current_time() - started == 120
    with slots.taken() as only, slots.taken() as second:
        assert (only, second) == (True, False)
