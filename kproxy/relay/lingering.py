"""A client socket that kproxy has closed: shut down, and read to its end, for a moment.

A socket that is closed while bytes of its peer are unread sends a reset, which can destroy the responses that the
client has not read yet.
"""

from __future__ import annotations

import fcntl
import select
import socket
import sys
import termios
from typing import Final

LINGER_SECONDS: Final = 2.0
_DISCARD: Final = bytearray(16 << 10)


class Lingering:
    """`deadline` in seconds on Trio's clock; `done` when the client has closed too."""

    __slots__ = ("_epoll", "deadline", "done", "fd", "sock")

    def __init__(self, sock: socket.socket, epoll: select.epoll, deadline: float) -> None:
        self.sock = sock
        self.fd = sock.fileno()
        self.deadline = deadline
        self.done = False
        self._epoll = epoll
        epoll.register(self.fd, select.EPOLLIN)

    @classmethod
    def begin(cls, sock: socket.socket, epoll: select.epoll, deadline: float) -> Lingering | None:
        """Say goodbye on a socket; None, and the socket closed, when its peer is gone already."""
        try:
            sock.shutdown(socket.SHUT_WR)
        except OSError:
            sock.close()
            return None
        return cls(sock, epoll, deadline)

    def event(self, mask: int) -> None:
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
        """Whether the client's kernel has not taken everything yet, and a reset would destroy the rest."""
        if self.done:
            return False
        queued = fcntl.ioctl(self.fd, termios.TIOCOUTQ, bytes(4))
        return int.from_bytes(queued, sys.byteorder) > 0

    def _finish(self) -> None:
        if not self.done:
            self.done = True
            self._epoll.unregister(self.fd)

    def close(self) -> None:
        self._finish()
        self.sock.close()
