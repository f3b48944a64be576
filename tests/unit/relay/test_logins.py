"""kproxy.relay.logins: places for clients that authenticate, and who makes room."""

from __future__ import annotations

from functools import partial

import pytest
import trio
import trio.testing

from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.relay.handshake_places import GRACE, Handshake
from kproxy.relay.logins import Logins

ONE, OTHER = "10.0.0.1", "10.0.0.2"


async def stands(handshake: Handshake) -> None:
    """Wait for a client that says nothing more."""
    await handshake.awaits(trio.sleep_forever)


async def ends_by(reasons: list[Reason], logins: Logins, host: str) -> None:
    """Note why a client that says nothing more is sent away."""
    with pytest.raises(Fault) as caught:
        await logins.complete(host, stands)
    reasons.append(caught.value.reason)


async def test_who_lets_its_login_wait_makes_room(autojump_clock: trio.testing.MockClock) -> None:
    """After a second, where another one wants the place; nobody is remembered behind that."""
    del autojump_clock
    logins, reasons, done = Logins(2), list[Reason](), list[float]()

    async def log_in(handshake: Handshake) -> None:
        await handshake.awaits(partial(trio.sleep, 0.1))
        done.append(trio.current_time())

    async with trio.open_nursery() as nursery:
        began = trio.current_time()
        nursery.start_soon(ends_by, reasons, logins, ONE)
        await trio.sleep(0.5)
        nursery.start_soon(logins.complete, ONE, log_in)  # one address has one of the two places
        await trio.sleep(0.1)
        assert (logins.active, len(logins)) == (1, 1)
    assert reasons == [Reason.AUTHENTICATION_LIMIT]
    assert done == [began + GRACE + 0.1]
    assert (logins.active, len(logins)) == (0, 0)


async def test_another_address_has_its_own(autojump_clock: trio.testing.MockClock) -> None:
    """A client of it does not wait for an address that uses up its half."""
    del autojump_clock
    logins, reasons = Logins(2), list[Reason]()
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(ends_by, reasons, logins, ONE)
        await trio.sleep(0.1)
        began = trio.current_time()
        await logins.complete(OTHER, lambda handshake: handshake.awaits(trio.lowlevel.checkpoint))
        assert trio.current_time() == began
        await trio.sleep(2.5 * GRACE)
        assert len(reasons) == 2
        nursery.cancel_scope.cancel()


async def test_another_limit() -> None:
    """The same stays as it is."""
    logins = Logins(2)
    assert logins.followed_by(2) is logins
    assert logins.followed_by(3) is not logins


async def test_a_fault_gives_the_place_back() -> None:
    """As every other end."""
    logins = Logins(1)

    async def fails(_: Handshake) -> None:
        raise Fault(Reason.CLIENT_CLOSED, "")

    for _ in range(2):
        with pytest.raises(Fault):
            await logins.complete(ONE, fails)
    assert (logins.active, len(logins)) == (0, 0)


async def test_a_drain(autojump_clock: trio.testing.MockClock) -> None:
    """Who is not authenticated yet is sent away at once, also who waits for a place or comes later."""
    del autojump_clock
    logins, reasons = Logins(2), list[Reason]()
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(ends_by, reasons, logins, ONE)
        await trio.sleep(0.1)
        began = trio.current_time()
        logins.drain()
    await ends_by(reasons, logins, OTHER)
    assert trio.current_time() == began
    assert reasons == [Reason.DRAINED] * 4
