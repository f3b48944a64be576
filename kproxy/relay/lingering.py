"""A client socket that kproxy has closed: shut down, and read to its end, for a moment.

A socket that is closed while bytes of its peer are unread sends a reset, which can destroy the responses that the
client has not read yet. An end that comes together with the last response can do the same: kafka-python throws away
what it has read when it meets the end in the same turn. So the end comes a moment later, unless nothing was sent.
"""

from __future__ import annotations

import fcntl
import select
import socket
import sys
import termios
from typing import Final

LINGER_SECONDS: Final = 2.0
PAUSE_SECONDS: Final = 0.15
"""Between the last response and the end."""
_DISCARD: Final = bytearray(16 << 10)


class Lingering:
    """`deadline` in seconds on Trio's clock; `ended` once the client was told; `done` when it has closed too."""

    __slots__ = ("_epoll", "deadline", "done", "ended", "fd", "sock")

    def __init__(self, sock: socket.socket, epoll: select.epoll, deadline: float) -> None:
        self.sock = sock
        self.fd = sock.fileno()
        self.deadline = deadline
        self.done = False
        self.ended = False
        self._epoll = epoll
        epoll.register(self.fd, select.EPOLLIN)

    def end(self) -> None:
        """Say goodbye, unless the client has gone first."""
        self.ended = True
        if not self.done:
            try:
                self.sock.shutdown(socket.SHUT_WR)
            except OSError:
                self._finish()

    def event(self) -> None:
        """Throw away what the client still sends."""
        try:
            if self.sock.recv_into(_DISCARD):
                return
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            pass
        self._finish()

    @property
    def undelivered(self) -> bool:
        """Whether the client's kernel has not taken everything yet, or a close would come too soon for the rest."""
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
        self._finish()
        self.sock.close()
