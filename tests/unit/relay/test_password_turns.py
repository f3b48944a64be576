"""Whose password is checked next: by address, behind a wrong one, and who is closed instead of waiting."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import pytest
import trio
import trio.testing

from kproxy.authentication.exchange import AuthenticationRefusedError, Step
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.relay.password_turns import MOST_WAITING, REST, PasswordTurns, check_in_turn
from tests.unit.relay.sockets import eventually

ONE, OTHER, THIRD = "192.0.2.1", "192.0.2.2", "192.0.2.3"
RIGHT = Step(b"", "User:alice")


def refuse() -> Step:
    """A wrong password."""
    raise AuthenticationRefusedError("it is wrong")


@dataclass
class Clients:
    """Clients whose passwords are checked: `checked` has their hosts in the order in which threads had them."""

    nursery: trio.Nursery
    turns: PasswordTurns
    go_on: threading.Event = field(default_factory=threading.Event)
    """What checks wait for that stand."""
    checked: list[str] = field(default_factory=list)
    faults: list[tuple[str, Reason]] = field(default_factory=list)

    async def come(self, *hosts: str, step: Callable[[], Step] = lambda: RIGHT) -> None:
        """Have clients come one after the other; return when no task can go on."""
        for host in hosts:
            self.come_soon(host, step)
            await trio.testing.wait_all_tasks_blocked()

    def come_soon(self, host: str, step: Callable[[], Step] = lambda: RIGHT) -> None:
        """Have a client come."""
        self.nursery.start_soon(self.one, host, step)

    async def begun(self, *hosts: str) -> None:
        """Wait until threads have these, whose checks stand; others would have one by then, too."""
        await eventually(lambda: len(self.checked) >= len(hosts), "a thread begins", 30)
        assert sorted(self.checked) == sorted(hosts)

    def stand(self) -> Step:
        """A check that takes long."""
        assert self.go_on.wait(30)
        return RIGHT

    async def one(self, host: str, step: Callable[[], Step] = lambda: RIGHT) -> None:
        """Check a client's password."""

        def check() -> Step:
            self.checked.append(host)
            return step()

        try:
            await self.turns.check(host, check)
        except AuthenticationRefusedError:
            pass
        except Fault as fault:
            self.faults.append((host, fault.reason))


@asynccontextmanager
async def clients() -> AsyncIterator[Clients]:
    """At the end all have had their turn."""
    async with trio.open_nursery() as nursery:
        made = Clients(nursery, PasswordTurns())
        try:
            yield made
        finally:
            made.go_on.set()


async def test_another_address_waits_for_none() -> None:
    """However many of one address wait, they use one thread of two."""
    async with clients() as made:
        await made.come(*[ONE] * 20, step=made.stand)
        await made.begun(ONE)
        await made.one(OTHER)
        assert made.checked == [ONE, OTHER]


async def test_addresses_take_turns() -> None:
    """A third one comes behind one check of each of the two; the clients of a /64 of IPv6 have one turn."""
    later = threading.Event()

    def stand_longer() -> Step:
        assert later.wait(30)
        return RIGHT

    async with clients() as made:
        await made.come("2001:db8::1", OTHER, step=made.stand)
        await made.come(*["2001:db8::2", OTHER] * 20, step=stand_longer)
        await made.come(THIRD)
        await made.begun("2001:db8::1", OTHER)
        made.go_on.set()
        await made.begun("2001:db8::1", OTHER, "2001:db8::2", OTHER, THIRD)
        later.set()
    assert len(made.checked) == 43


async def test_an_address_rests_behind_a_wrong_password(mock_clock: trio.testing.MockClock) -> None:
    """Its own passwords wait, also the right ones; another one's do not."""
    async with clients() as made:
        await made.one(ONE, refuse)
        await made.come(ONE, ONE)
        await made.one(OTHER)
        mock_clock.jump(REST * 0.9)
        await trio.testing.wait_all_tasks_blocked()
        assert made.checked == [ONE, OTHER]
        mock_clock.jump(REST * 0.2)
    assert made.checked == [ONE, OTHER, ONE, ONE]


async def test_guesses_keep_a_pace(autojump_clock: trio.testing.MockClock) -> None:
    """Also where none waits while another is checked: an address is remembered as long as it rests, and no longer."""
    del autojump_clock
    turns, began = PasswordTurns(), trio.current_time()
    for number in range(10):
        with pytest.raises(AuthenticationRefusedError):
            await turns.check(ONE, refuse)
        assert trio.current_time() - began == pytest.approx(number * REST)
        assert turns.resting == 1
        await trio.sleep(REST / 2)
    with pytest.raises(AuthenticationRefusedError):
        await turns.check(OTHER, refuse)
    assert turns.resting == 2
    await trio.sleep(REST)
    with pytest.raises(AuthenticationRefusedError):
        await turns.check(THIRD, refuse)
    assert turns.resting == 1


@pytest.mark.parametrize(("behind", "closed"), [([], 3), ([ONE], 0)])
async def test_who_guesses_does_not_pile_up(behind: list[str], closed: int) -> None:
    """Where an address's last password was wrong, so many wait and others are closed; a right one lets all wait."""
    wrong = threading.Event()

    def refused() -> Step:
        assert wrong.wait(30)
        return refuse()

    async with clients() as made:
        await made.come(ONE, step=refused)
        await made.come(*behind)
        await made.come(ONE, step=made.stand)  # longer than the address rests
        wrong.set()
        await made.begun(ONE, *behind, ONE)
        for _ in range(MOST_WAITING + 3):
            made.come_soon(ONE)
        await trio.testing.wait_all_tasks_blocked()
    assert made.faults == [(ONE, Reason.AUTHENTICATION_LIMIT)] * closed


async def test_who_does_not_guess_may_wait() -> None:
    """As many as there are."""
    async with clients() as made:
        await made.come(ONE, step=made.stand)
        for _ in range(MOST_WAITING + 3):
            made.come_soon(ONE)
        await trio.testing.wait_all_tasks_blocked()
    assert made.faults == []


async def test_a_process_has_one_of_them(autojump_clock: trio.testing.MockClock) -> None:
    """Whatever asks for a turn, its address has one; so do a login and a later one on the same connection."""
    del autojump_clock
    began = trio.current_time()
    for number in range(3):
        with pytest.raises(AuthenticationRefusedError):
            await check_in_turn(ONE, refuse)
        assert trio.current_time() - began == pytest.approx(number * REST)
    assert await check_in_turn(ONE, partial(Step, b"")) == Step(b"")
