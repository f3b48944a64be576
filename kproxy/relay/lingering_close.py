"""Client sockets that kproxy closes gently: each is shut down and then read to its end, for a moment.

The pump hands every client socket over when it closes the connection, unless the client has gone; the acceptor those
of clients whose login it has refused.

A socket that is closed while bytes of its peer are unread sends a reset, which can destroy the responses that the
client has not read yet. A FIN that arrives together with the last response can do the same: kafka-python discards what
it has read when it finds the FIN in the same poll. So the FIN follows a moment later, unless nothing was sent.
"""

from __future__ import annotations

import fcntl
import select
import socket
import ssl
import sys
import termios
from collections import deque
from contextlib import suppress
from typing import Final

import trio

from kproxy.observe.faults import boundary, note
from kproxy.observe.troubles import Troubles, Where

LINGER_SECONDS: Final = 2.0
PAUSE_SECONDS: Final = 0.15
"""Seconds between the last response and the FIN."""
_DISCARD: Final = bytearray(16 << 10)


class LingeringSocket:
    """One client socket that is being closed."""

    __slots__ = ("_epoll", "deadline", "done", "ended", "fd", "sock")

    def __init__(self, sock: socket.socket, epoll: select.epoll, deadline: float) -> None:
        self.sock = sock
        self.fd = sock.fileno()
        self.deadline = deadline
        """When it is closed in any case: seconds on Trio's clock."""
        self.done = False
        """True when the client has closed too."""
        self.ended = False
        """True once the FIN was sent."""
        self._epoll = epoll
        epoll.register(self.fd, select.EPOLLIN)

    def end(self) -> None:
        """Send the FIN, unless the client has gone first."""
        self.ended = True
        if not self.done:
            try:
                if isinstance(self.sock, ssl.SSLSocket):
                    with suppress(OSError, ValueError):  # it does not wait for the client's own close_notify
                        self.sock.unwrap()
                self.sock.shutdown(socket.SHUT_WR)
            except OSError:
                self._finish()

    def event(self) -> None:
        """Discard what the client still sends."""
        try:
            if socket.socket.recv_into(self.sock, _DISCARD):  # nobody decrypts what is discarded
                return
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            pass
        self._finish()

    @property
    def undelivered(self) -> bool:
        """True until the client's kernel has everything that was sent, the FIN included."""
        if self.done:
            return False
        if not self.ended:
            return True
        queued = fcntl.ioctl(self.fd, termios.TIOCOUTQ, bytes(4))
        return int.from_bytes(queued, sys.byteorder) > 0

    def _finish(self) -> None:
        if not self.done:
            self.done = True
            self._epoll.unregister(self.fd)

    def close(self) -> None:
        try:
            self._finish()
        finally:
            self.sock.close()


_DELIVERY_SECONDS: Final = 0.02
_AT_A_TIME: Final = 50
"""Sockets that are closed before others are served."""


class LingeringSockets:
    """All lingering sockets. The pump's epoll watches them and its task calls `event`; `run` is their own task."""

    def __init__(self, epoll: select.epoll, troubles: Troubles) -> None:
        self._epoll = epoll
        self._troubles = troubles
        self._lingering: dict[int, LingeringSocket] = {}
        self._to_end: deque[tuple[float, LingeringSocket]] = deque()
        self._to_end_soon = trio.Event()

    def __len__(self) -> int:
        return len(self._lingering)

    def add(self, client: socket.socket, *, at_once: bool) -> None:
        """Let a socket linger and close it in the end; `at_once` if its last response needs no pause."""
        now = trio.current_time()
        lingering = LingeringSocket(client, self._epoll, now + LINGER_SECONDS)
        self._lingering[lingering.fd] = lingering
        if at_once:
            self._end(lingering)
        else:
            self._to_end.append((now + PAUSE_SECONDS, lingering))
            self._to_end_soon.set()

    def event(self, fd: int) -> None:
        """Handle an event of a descriptor, which may have gone in the same round; never raises."""
        lingering = self._lingering.get(fd)
        if lingering is not None:
            try:
                lingering.event()
            except Exception as error:  # a closing socket's failure is no connection's
                self._give_up(lingering, error)

    async def run(self) -> None:
        """Send each its end when its pause is over, until cancelled."""
        while True:
            await self._to_end_soon.wait()
            self._to_end_soon = trio.Event()
            while self._to_end:
                moment, lingering = self._to_end.popleft()
                await trio.sleep_until(moment)
                if self._lingering.get(lingering.fd) is lingering:
                    self._end(lingering)

    def _end(self, lingering: LingeringSocket) -> None:
        try:
            lingering.end()
        except Exception as error:  # as in `event`
            self._give_up(lingering, error)

    async def wait_delivered(self) -> None:
        """Wait until clients have taken what was sent to them, as long as their sockets linger for that."""
        while any(one.undelivered for one in self._lingering.values()):  # noqa: ASYNC110 (the kernel does not tell)
            await trio.sleep(_DELIVERY_SECONDS)

    async def sweep(self) -> None:
        """Close those that are done, and those past their deadline, a few at a time."""
        now, closed = trio.current_time(), 0
        for lingering in list(self._lingering.values()):
            if lingering.done or lingering.deadline < now:
                self._forget(lingering)
                closed += 1
                if closed % _AT_A_TIME == 0:
                    await trio.lowlevel.checkpoint()

    def close(self) -> None:
        """Close all of them now."""
        for lingering in list(self._lingering.values()):
            self._forget(lingering)

    def _give_up(self, lingering: LingeringSocket, error: Exception) -> None:
        """Close one that failed: epoll would report it again and again."""
        note(self._troubles, Where.LINGERING, error)
        self._forget(lingering)

    def _forget(self, lingering: LingeringSocket) -> None:
        self._lingering.pop(lingering.fd, None)
        with boundary(self._troubles, Where.LINGERING):
            lingering.close()
