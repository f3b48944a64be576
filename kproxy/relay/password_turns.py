"""Whose password is checked next. A check takes thousands of hashes, and two are made at a time, beside the relay.

Client addresses take turns, and the clients of one in the order in which they came: one of an address's passwords is
checked at a time. Behind a wrong one the address rests, so that guesses take little of the processor. Then only some of
its clients may wait; the others are closed, and come again.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Final

import trio

from kproxy.authentication.authenticator import REFUSAL_DELAY
from kproxy.authentication.exchange import AuthenticationRefusedError, Step
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.protocol.network import network
from kproxy.relay.client_addresses import ClientAddresses

_THREADS: Final = 2
"""So many passwords are checked at once: names are looked up and files read in threads of their own beside them."""
REST: Final = REFUSAL_DELAY
"""Seconds behind a wrong password: ten guesses a second take 3 % of a processor where users have 8,192 iterations."""
MOST_WAITING: Final = 50
"""Of an address whose last password was wrong: their turns come within five seconds."""


class _Address:
    """One client address that has passwords to be checked."""

    __slots__ = ("guesses", "turn")

    def __init__(self) -> None:
        self.turn = trio.Lock()
        self.guesses = False
        """Whether its last password was wrong."""


class PasswordTurns:
    """All of them, whichever virtual cluster the clients mean: the processor is the same."""

    def __init__(self) -> None:
        self._threads = trio.CapacityLimiter(_THREADS)
        self._addresses = ClientAddresses(_Address)
        self._resting: dict[str, float] = {}
        """Until when addresses rest, by Trio's clock; the first to end is the first."""

    @property
    def resting(self) -> int:
        """How many addresses are remembered because they rest."""
        return len(self._resting)

    async def check(self, host: str, step: Callable[[], Step]) -> Step:
        """Return what `step` does, which runs in a thread when it is the turn of the client's address.

        Raises what `step` raises, and `Fault` where many wait whose address guesses.
        """
        key = network(host)
        with self._addresses.of(host) as address:
            if address.guesses and address.turn.statistics().tasks_waiting >= MOST_WAITING:
                detail = f"{MOST_WAITING} passwords of its address wait, and the last one was wrong"
                raise Fault(Reason.AUTHENTICATION_LIMIT, detail)
            async with address.turn:
                await trio.sleep_until(self._rests_until(key))
                return await self._check(address, key, step)

    async def _check(self, address: _Address, key: str, step: Callable[[], Step]) -> Step:
        try:
            found = await trio.to_thread.run_sync(step, limiter=self._threads)
        except AuthenticationRefusedError:
            address.guesses = True
            self._rest(key)
            raise
        address.guesses = False
        return found

    def _rests_until(self, key: str) -> float:
        return self._resting.get(key, -inf)

    def _rest(self, key: str) -> None:
        """Note that an address rests, and forget those that no longer do."""
        now = trio.current_time()
        self._resting.pop(key, None)
        self._resting[key] = now + REST
        while self._resting[first := next(iter(self._resting))] <= now:
            del self._resting[first]


_ALL: Final = trio.lowlevel.RunVar[PasswordTurns]("password turns")


async def check_in_turn(host: str, step: Callable[[], Step]) -> Step:
    """As `PasswordTurns.check`, of those that all clients of the process share."""
    try:
        turns = _ALL.get()
    except LookupError:
        turns = PasswordTurns()
        _ALL.set(turns)
    return await turns.check(host, step)
