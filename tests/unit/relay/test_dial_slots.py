"""How many dials of one broker are under way."""

from __future__ import annotations

import trio
import trio.testing

from kproxy.relay.dial_slots import SLOTS, DialSlots

ONE, OTHER = ("broker-1", 9092), ("broker-2", 9092)


async def test_a_broker_is_dialled_so_often_at_a_time() -> None:
    """The others wait; each that ends lets the next one begin. Another broker's dials do not wait."""
    slots, answered = DialSlots(), trio.Event()
    dialling: list[tuple[str, int]] = []

    async def dial(address: tuple[str, int]) -> None:
        async with slots.slot(address):
            dialling.append(address)
            await answered.wait()
            dialling.remove(address)
            await trio.lowlevel.checkpoint()

    most = 0
    with trio.fail_after(40):
        async with trio.open_nursery() as nursery:
            for _ in range(3 * SLOTS):
                nursery.start_soon(dial, ONE)
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(dial, OTHER)
            await trio.testing.wait_all_tasks_blocked()
            assert (dialling.count(ONE), dialling.count(OTHER), len(slots)) == (SLOTS, 1, 2)
            answered.set()
            while dialling:
                most = max(most, len(dialling))
                await trio.lowlevel.checkpoint()
    assert most <= SLOTS + 1
    assert len(slots) == 0


async def test_a_client_that_gives_up_leaves_its_place() -> None:
    """Its deadline holds while it waits, and the slots stay as many."""
    slots = DialSlots()
    with trio.fail_after(40):
        async with trio.open_nursery() as nursery:

            async def silent() -> None:
                async with slots.slot(ONE):
                    await trio.sleep_forever()

            for _ in range(SLOTS):
                nursery.start_soon(silent)
            await trio.testing.wait_all_tasks_blocked()
            with trio.move_on_after(0.05) as scope:
                async with slots.slot(ONE):
                    raise AssertionError("a slot too many")
            assert scope.cancelled_caught
            nursery.cancel_scope.cancel()
    assert len(slots) == 0
