# This module is compiled (by mypyc).
"""Moves large bodies from socket to socket inside the kernel, through a pooled pipe.

`Connection` does so when at least `SPLICE_FROM` bytes that need no look are still to come; `Endpoint` takes the pipe.
"""

from __future__ import annotations

import errno
import fcntl
import os
from typing import Final

SPLICE_FROM: Final = 16 << 10
"""Bytes of a body still to come from which on a splice is cheaper than copying through the scratch buffer."""
PIPE_BYTES: Final = 1 << 20
MAX_IDLE: Final = 16
MAX_PIPES: Final = 256
"""The most pipes: twice as many descriptors, half of those that are kept back from clients. Clients that do not read
hold theirs; bodies beyond are copied.
"""
_FLAGS: Final = os.SPLICE_F_MOVE | os.SPLICE_F_NONBLOCK


class NoPipeError(Exception):
    """There is no descriptor for a pipe."""


class Pipe:
    """A pipe that bodies are spliced through."""

    __slots__ = ("level", "reader", "writer")

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.level = 0
        """Bytes that are in it."""
        try:
            fcntl.fcntl(self.writer, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except OSError as error:
            # Beyond /proc/sys/fs/pipe-user-pages-soft an unprivileged user gets 64 KiB: slower, not wrong.
            if error.errno != errno.EPERM:
                self.close()
                raise

    def fill(self, fd: int, count: int) -> int:
        """Take up to `count` bytes from a socket, 0 at its end. BlockingIOError when there is nothing."""
        moved = os.splice(fd, self.writer, count, None, None, _FLAGS)
        self.level += moved
        return moved

    def drain(self, fd: int) -> int:
        """Move the bytes in the pipe to a socket; returns how many it took."""
        try:
            moved = os.splice(self.reader, fd, self.level, None, None, _FLAGS)
        except BlockingIOError:
            return 0
        self.level -= moved
        return moved

    def close(self) -> None:
        os.close(self.reader)
        os.close(self.writer)


class PipePool:
    """Pipes that are not in use: a connection has one only while a body is under way."""

    def __init__(self) -> None:
        self._idle: list[Pipe] = []
        self._open = 0

    def take(self) -> Pipe:
        """Return a pipe; raises `NoPipeError` when no pipe or descriptor is left: the body is then to be copied."""
        if self._idle:
            return self._idle.pop()
        if self._open >= MAX_PIPES:
            raise NoPipeError(f"{MAX_PIPES} pipes are in use")
        try:
            pipe = Pipe()
        except OSError as error:
            raise NoPipeError(error.strerror) from error
        self._open += 1
        return pipe

    def give_back(self, pipe: Pipe) -> None:
        if pipe.level or len(self._idle) >= MAX_IDLE:
            self._open -= 1
            pipe.close()
        else:
            self._idle.append(pipe)

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()
