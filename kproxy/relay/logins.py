"""Clients that authenticate to kproxy: how many do so at a time, in all and from one address. Others wait.

The acceptor has one `Logins`. A client has its place from its first request on, until it is authenticated. Without
places, whoever holds thousands of connections in the middle of a login would hold their memory, too.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from kproxy.authentication.authenticator import MTLS
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.relay.client_addresses import ClientAddresses
from kproxy.relay.handshake_places import Handshake, Places
from kproxy.relay.unauthenticated import Unauthenticated, certify

if TYPE_CHECKING:
    from kproxy.authentication.authenticator import Authenticator
    from kproxy.config import Timeouts
    from kproxy.relay.arrival import Arrival

_SHARE: Final = 2
"""The part of all places, one of so many, that one address may have."""


class Logins:
    """All of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._places = Places(most)
        self._under_way: set[Handshake] = set()
        self._draining = False
        self._addresses = ClientAddresses(partial(Places, max(1, most // _SHARE)))

    @property
    def active(self) -> int:
        """How many are under way."""
        return self._places.taken

    def __len__(self) -> int:
        """Return how many addresses have a client that waits or has a place."""
        return len(self._addresses)

    def followed_by(self, most: int) -> Logins:
        """Return those of another limit; what waits or is under way keeps its own, and is no longer counted."""
        return self if self._most == most else Logins(most)

    def drain(self) -> None:
        """Have all end that are not authenticated yet."""
        self._draining = True
        for handshake in list(self._under_way):
            handshake.dismiss()

    async def complete(self, host: str, log_in: Callable[[Handshake], Awaitable[None]]) -> None:
        """Await `log_in` once there is a place for it; it waits for its client by `Handshake.awaits`.

        Raises `Fault` where the client has let it wait for a second while others wanted the place.
        """
        with self._addresses.of(host) as own:
            async with own, self._places:
                await self._log_in(own, log_in)

    async def authenticate(
        self, arrival: Arrival, client: socket.socket, by: Authenticator, timeouts: Timeouts
    ) -> None:
        """Have a client authenticate to kproxy; raises `Fault`."""
        context, destination = arrival.context, arrival.destination
        if by.certificates is None:
            await self._by_sasl(arrival, client, by, timeouts.first_request)
        else:
            certify(destination, context, client, by.certificates)
            destination.audit(context, MTLS, None)
        destination.authenticated(context)

    async def _by_sasl(self, arrival: Arrival, client: socket.socket, by: Authenticator, seconds: float) -> None:
        """Have the client authenticate by SASL, in its turn; raises `Fault`."""
        context, destination = arrival.context, arrival.destination
        begun = list[Unauthenticated]()  # empty until it has its place: thousands may wait for one

        async def log_in(handshake: Handshake) -> None:
            begun.append(Unauthenticated(client, context, arrival.table, by, destination.hello(context.node_id)))
            await begun[0].authenticate(seconds, handshake.awaits)

        try:
            with trio.move_on_after(seconds) as patience:
                await self.complete(context.host, log_in)
            if patience.cancelled_caught:
                what = "not authenticated" if begun else "no turn to authenticate"
                raise Fault(Reason.AUTHENTICATION_TIMEOUT, f"{what} in {seconds:g} s")
        except Fault as fault:
            refusal = begun[0].refusal(fault) if begun else ""
            if not refusal:
                raise
            destination.audit(context, begun[0].mechanism, refusal)
            raise Fault(Reason.AUTHENTICATION_FAILED, refusal) from fault
        destination.audit(context, begun[0].mechanism, None)

    async def _log_in(self, own: Places, log_in: Callable[[Handshake], Awaitable[None]]) -> None:
        handshake = Handshake(self._places, own)
        self._under_way.add(handshake)
        try:
            with handshake.scope:
                if not self._draining:
                    await log_in(handshake)
                    return
        finally:
            self._under_way.remove(handshake)
        if self._draining:
            raise Fault(Reason.DRAINED, "")
        detail = "it let its login wait while others waited for the place (limits.max_unauthenticated)"
        raise Fault(Reason.AUTHENTICATION_LIMIT, detail)
