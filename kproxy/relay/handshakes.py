"""TLS handshakes of clients: how many are under way, how many begin a second, and whose turn it is. Others wait.

The acceptor has one `Handshakes`. A client comes here when its whole hello has arrived: who sends less takes no place,
and who waits for its turn has no object of OpenSSL yet.

Addresses take turns, and the clients of one in the order in which they came. So an address with thousands of them keeps
another address waiting for one handshake, not for thousands.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import trio

from kproxy.observe.counters import Histogram
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.relay.client_addresses import ClientAddresses
from kproxy.relay.handshake_places import Handshake, Places
from kproxy.relay.token_bucket import TokenBucket
from kproxy.upstream.dial import reason
from kproxy.upstream.tls import shake_hands

_SHARE: Final = 2
"""The part of all places, one of so many, that one address may have."""
_BURSTS: Final = 100
"""So many bursts a second: 5 handshakes at once take 5 ms, which is what a relayed request may have to wait."""

Wrap = Callable[[socket.socket], ssl.SSLSocket]
Readable = Callable[[socket.socket], Awaitable[None]]
Refuse = Callable[[socket.socket], None]
"""Closes the socket of a client whose handshake has failed. TLS' alert has been sent, unless the client went first."""


class _Address:
    """One client address."""

    __slots__ = ("places", "turn")

    def __init__(self, most: int) -> None:
        self.places = Places(most)
        self.turn = trio.Lock()


class Handshakes:
    """All of them."""

    def __init__(self, most: int, rate: int, refuse: Refuse) -> None:
        """`most` are under way at a time; `rate` begin a second, evenly."""
        self._limits = most, rate
        self._refuse = refuse
        self.waiting = 0
        """How many wait for their turn."""
        self.seconds = Histogram()
        """How long those took that were completed, from the client's hello on, their wait included."""
        self._places = Places(most)
        self._turn = trio.Lock()
        self._bucket = TokenBucket(rate, max(1, rate // _BURSTS))
        self._addresses = ClientAddresses(partial(_Address, max(1, most // _SHARE)))
        self._draining = False

    @property
    def active(self) -> int:
        """How many are under way."""
        return self._places.taken

    def __len__(self) -> int:
        """Return how many addresses have a handshake that waits or is under way."""
        return len(self._addresses)

    async def complete(
        self, client: socket.socket, host: str, wrap: Wrap, readable: Readable, deadline: float
    ) -> ssl.SSLSocket | None:
        """Return the client's TLS socket once its handshake is over; `readable` waits until a socket can be read.

        None where the client has had its turn, and has not ended its handshake before the deadline.

        Raises `Fault`, also where it is not this client's turn before `deadline` (Trio's clock), and what `readable`
        raises. The client's socket is used up once its turn has come, and closed where this raises.
        """
        began = trio.current_time()
        with self._addresses.of(host) as address:
            await self._begin(address, deadline)
            secured = None
            try:
                with trio.move_on_at(deadline):
                    secured = await self._shake_hands(client, address, wrap, readable)
            finally:
                self._end(address)
        if secured is not None:
            self.seconds.observe(trio.current_time() - began)
        return secured

    def followed_by(self, most: int, rate: int) -> Handshakes:
        """Return those of other limits; what waits or is under way keeps its own, and is no longer counted."""
        if self._limits == (most, rate):
            return self
        other = Handshakes(most, rate, self._refuse)
        other.seconds = self.seconds
        return other

    def drain(self) -> None:
        """Have those end that wait for their turn."""
        self._draining = True

    async def _begin(self, address: _Address, deadline: float) -> None:
        """Wait for the client's turn, and take a place; `_end` must follow. Raises `Fault` when there is none."""
        if not self._begin_nowait(address):
            self.waiting += 1
            try:
                with trio.move_on_at(deadline) as patience:
                    await self._begin_in_turn(address)
            finally:
                self.waiting -= 1
            if patience.cancelled_caught:
                raise _no_turn()
        if self._draining:
            self._end(address)
            raise Fault(Reason.DRAINED, "")

    def _begin_nowait(self, address: _Address) -> bool:
        """Take a place where nobody waits for one; return False when that is not so."""
        if self.waiting or self._bucket.due > trio.current_time():
            return False
        if not address.places.take_nowait():
            return False
        if not self._places.take_nowait():
            address.places.give_back()
            return False
        self._bucket.take(1, trio.current_time())
        return True

    async def _begin_in_turn(self, address: _Address) -> None:
        async with address.turn:
            await address.places.take()
            try:
                async with self._turn:
                    await self._begin_next()
            except BaseException:
                address.places.give_back()
                raise

    async def _begin_next(self) -> None:
        if not self._draining:
            await trio.sleep_until(self._bucket.due)  # nobody else takes the token meanwhile
        await self._places.take()
        self._bucket.take(1, trio.current_time())

    def _end(self, address: _Address) -> None:
        self._places.give_back()
        address.places.give_back()

    async def _shake_hands(
        self, client: socket.socket, address: _Address, wrap: Wrap, readable: Readable
    ) -> ssl.SSLSocket:
        try:
            secured = wrap(client)
        except OSError as error:
            raise Fault(Reason.CLIENT_RESET, "gone before the TLS handshake") from error
        try:
            handshake = Handshake(self._places, address.places)
            with handshake.scope:
                await shake_hands(secured, partial(handshake.awaits, partial(readable, secured)))
                return secured
            raise _dismissed()
        except OSError as error:
            self._refuse(secured)
            raise Fault(Reason.TLS_FAILED, reason(error)) from error
        except BaseException:
            secured.close()
            raise


def _no_turn() -> Fault:
    detail = "its handshake had no turn within timeouts.tls_handshake (limits.handshakes_per_second, max_handshakes)"
    return Fault(Reason.HANDSHAKE_LIMIT, detail)


def _dismissed() -> Fault:
    detail = "it let its handshake wait while others waited for the place (limits.max_handshakes)"
    return Fault(Reason.HANDSHAKE_LIMIT, detail)
