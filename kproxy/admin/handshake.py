"""TLS handshakes at the admin port: one part after the other at a pace, and none for long.

`serve_admin` has one `Handshakes`. Each accepted socket comes here, and leaves as a stream.
"""

from __future__ import annotations

import socket
import ssl
from functools import partial
from http import HTTPStatus
from typing import Final

import trio

from kproxy.admin.limits import Limits
from kproxy.admin.message import HttpError
from kproxy.admin.security import AdminSecurity, Security, certified_names
from kproxy.admin.slots import Slot, Slots
from kproxy.admin.stream import Client, PlainStream, Stream, TlsStream
from kproxy.relay.entrance import asked_name
from kproxy.relay.peek import peek_whole
from kproxy.upstream.tls import shake_hands

_TLS: Final = b"\x16"
"""The type of the record in which a TLS client says hello."""
_PARTS: Final = 4
"""Parts of a handshake that come from a client, at most: of TLS 1.3 a hello, perhaps another one, and its end."""


class Handshakes:
    """Makes streams of accepted sockets."""

    def __init__(self, security: Security, slots: Slots, limits: Limits) -> None:
        self._security = security
        self._slots = slots
        self._limits = limits
        self._turn = trio.Semaphore(1)
        self._next = 0.0
        """The time from which on another part may be looked at."""

    def room_in(self) -> float:
        """Return in how many seconds to try for room; 0.0 when few enough wait for their turn."""
        waiting = self._turn.statistics().tasks_waiting
        return self._limits.handshake_pace if waiting >= self._limits.handshake_queue else 0.0

    async def stream(self, accepted: socket.socket, slot: Slot) -> tuple[Stream, HttpError | None]:
        """Return the stream of a connection, and why no request on it is served, if so. The stream is to be closed.

        Raises OSError, `Fault` and `trio.TooSlowError` for a client that does not complete its handshake.
        """
        security = self._security()
        if security is None:
            return PlainStream(accepted), None
        with trio.fail_after(self._limits.handshake_seconds):
            first = await peek_whole(accepted, 1, partial(trio.lowlevel.wait_readable, accepted))
            if first != _TLS:
                reason = "this is plain HTTP; the admin port speaks TLS: use https://"
                return PlainStream(accepted), HttpError(HTTPStatus.BAD_REQUEST, reason)
            return await self._secured(accepted, security, slot), None

    async def _secured(self, accepted: socket.socket, security: AdminSecurity, slot: Slot) -> TlsStream:
        async def rest_of_hello() -> None:
            self._slots.slow(slot)
            await trio.lowlevel.wait_readable(accepted)

        await asked_name(accepted, rest_of_hello)  # it is whole then: a slow one costs OpenSSL nothing
        address: str = accepted.getpeername()[0]
        tls = security.context.wrap(accepted)
        try:
            await self._shake_hands(tls, slot)
            return TlsStream(tls, Client(address, certified_names(tls), security))
        except BaseException:
            tls.close()
            raise

    async def _shake_hands(self, tls: ssl.SSLSocket, slot: Slot) -> None:
        parts = 1

        async def next_part() -> None:
            nonlocal parts
            parts += 1
            self._wait(slot, slow=parts > _PARTS)
            await trio.lowlevel.wait_readable(tls)
            await self._turn_of(slot)

        await self._turn_of(slot)
        await shake_hands(tls, next_part)
        self._wait(slot, slow=parts > _PARTS)

    def _wait(self, slot: Slot, *, slow: bool) -> None:
        """Note that kproxy waits for the client. One that sends a part in pieces has made no progress."""
        if slow:
            self._slots.slow(slot)
        self._slots.resume(slot, trio.current_time() + self._limits.handshake_grace)

    async def _turn_of(self, slot: Slot) -> None:
        """Return when it is this connection's turn: what makes it wait are others, so nobody ends it meanwhile."""
        self._slots.protect(slot, trio.current_time() + self._limits.handshake_grace)
        async with self._turn:
            await trio.sleep_until(self._next)
            self._next = trio.current_time() + self._limits.handshake_pace
