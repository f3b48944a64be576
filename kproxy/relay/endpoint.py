# This module is compiled (by mypyc).
"""One non-blocking socket of a relayed connection: what it still has to send, and which events it waits for.

Each connection has the pump make two when it begins: the client's and the broker's. The flows send through them.
"""

from __future__ import annotations

import fcntl
import select
import socket
import sys
import termios
from abc import ABCMeta, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import Chunk
from kproxy.protocol.fault import Fault
from kproxy.relay.splice import NoPipeError, Pipe, PipePool

IN: Final = select.EPOLLIN | select.EPOLLRDHUP
"""Something to read, which may be the end; `ENDED` tells the two apart before a read."""
OUT: Final = select.EPOLLOUT
GONE: Final = select.EPOLLHUP | select.EPOLLERR
ENDED: Final = GONE | select.EPOLLRDHUP
JOIN_BELOW: Final = 64 << 10
"""A frame of several chunks is joined up to this many bytes: there a copy is cheaper than a vector."""
MAX_VECTOR: Final = 1000
"""The most chunks in one sendmsg; Linux takes 1,024."""


class EndpointOwner(metaclass=ABCMeta):
    """The connection that two endpoints belong to."""

    __slots__ = ("id",)

    def __init__(self, number: int) -> None:
        self.id = number
        """A rising number that no other connection of the process has."""

    @abstractmethod
    def event(self, endpoint: Endpoint, mask: int, now: float) -> None:
        """Handle the events that epoll reported at `now`; raises `Fault` where the connection must close."""

    @abstractmethod
    def close(self, reason: Reason, detail: str = "") -> None:
        """Close both sides now."""

    @abstractmethod
    def client_gone(self) -> None:
        """Note that the client's endpoint discards what is sent to it from now on."""


class Endpoint:
    """A socket in the pump. What its peer does not take yet waits here, or in a pipe if it was spliced."""

    __slots__ = (
        "_epoll",
        "_interest",
        "_pending",
        "_pipe",
        "_pipes",
        "_registered",
        "_send",
        "blocked",
        "brief",
        "connection",
        "costly",
        "fd",
        "gone",
        "is_client",
        "pending_bytes",
        "plain",
        "reading",
        "receive",
        "sent",
        "sock",
    )

    def __init__(self, sock: socket.socket, is_client: bool, epoll: select.epoll, pipes: PipePool) -> None:
        self.sock = sock
        self.fd = sock.fileno()
        self.is_client = is_client
        self.connection: EndpointOwner
        self.plain = True
        """True where bytes go over the wire as they are: the kernel may move them by itself."""
        self.receive: Callable[[int], bytes] = sock.recv
        """Reads up to so many bytes, a record where the wire is encrypted; raises as `recv`."""
        self._send: Callable[[Chunk], int] = sock.send
        self.sent = 0
        """Bytes that the kernel has taken for the peer."""
        self.blocked = False
        """True while bytes wait to be sent."""
        self.reading = True
        """True while what the peer sends is read."""
        self.gone = ""
        """What a client's reset was noticed by: it gets nothing more, and what it sent before can still be read."""
        self.brief = True
        """True when the peer's last frames were short, or one is to be spliced: then little is read at a time."""
        self.costly = False
        """True when the proxy itself answered the last request, which takes longer than to relay one: the next then
        waits until what arrived with it is out.
        """
        self.pending_bytes = 0
        """Bytes that the process holds for this peer."""
        self._pending: deque[Chunk] | None = None
        self._pipe: Pipe | None = None
        self._pipes = pipes
        self._epoll = epoll
        self._interest = IN
        epoll.register(self.fd, IN)
        self._registered = True

    def receive_into(self, buffer: memoryview) -> int:
        """Read into a buffer of at least 16 KiB; return how many bytes, 0 at the end; raises as `recv_into`."""
        return self.sock.recv_into(buffer)

    def send(self, chunk: Chunk) -> None:
        """Send what the peer takes now and keep a copy of the rest; raises `Fault` when a broker is gone."""
        sent = 0
        if not self.blocked:
            try:
                sent = self._send(chunk)
            except (BlockingIOError, InterruptedError):
                pass
            except OSError as error:
                self.lose(error)
                return
            self.sent += sent
            if sent == len(chunk):
                return
        self._keep(bytes(chunk[sent:]))

    def send_frame(self, size: bytes, chunks: Sequence[Chunk]) -> None:
        """Send a frame that is made of chunks, its size first; raises as `send`."""
        total = len(size) + sum(map(len, chunks))
        if total <= JOIN_BELOW or self.blocked or self.gone or len(chunks) >= MAX_VECTOR:
            self.send(b"".join((size, *chunks)))
            return
        try:
            sent = self.sock.sendmsg((size, *chunks))
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError as error:
            self.lose(error)
            return
        self.sent += sent
        if sent < total:
            self._keep(b"".join((size, *chunks))[sent:])

    def _keep(self, rest: bytes) -> None:
        if self._pending is None:
            self._pending = deque()
            self._block()
        self._pending.append(rest)
        self.pending_bytes += len(rest)

    def _block(self) -> None:
        self.blocked = True
        self.want(self._interest | OUT)

    def splice_from(self, source: Endpoint, count: int) -> int | None:
        """Move up to `count` bytes from the other socket inside the kernel; returns how many, 0 at its end.

        None when it has nothing now. Raises `NoPipeError` when there is no descriptor for a pipe, or this peer is gone.
        """
        if self.gone:
            raise NoPipeError(self.gone)
        pipe = self._pipes.take()
        try:
            moved = pipe.fill(source.fd, count)
        except BlockingIOError:
            self._pipes.give_back(pipe)
            return None
        except OSError as error:
            self._pipes.give_back(pipe)
            source.lose(error)
            return 0
        self._pipe = pipe
        if not self._drain_pipe():
            self._block()
        return moved

    def _drain_pipe(self) -> bool:
        pipe = self._pipe
        if pipe is None:
            return True
        try:
            self.sent += pipe.drain(self.fd)
        except OSError as error:
            self.lose(error)
            return True
        if pipe.level:
            return False
        self._pipes.give_back(pipe)
        self._pipe = None
        return True

    def flush(self) -> bool:
        """Send what waits; returns True when all of it is out."""
        if not self._drain_pipe():
            return False
        while self._pending:
            chunk = self._pending[0]
            try:
                sent = self._send(chunk)
            except (BlockingIOError, InterruptedError):
                return False
            except OSError as error:
                self.lose(error)
                break
            self.sent += sent
            self.pending_bytes -= sent
            if sent < len(chunk):
                self._pending[0] = memoryview(chunk)[sent:]
                return False
            self._pending.popleft()
        self._pending = None
        self.blocked = False
        self.want(self._interest & ~OUT)
        return True

    def lose(self, error: OSError) -> None:
        """Discard what is sent to a client from now on: it has reset the connection. Raises `Fault` where a broker has.

        The kernel keeps what a peer sent before its reset, and a client of acks=0 relies on what it has sent.
        """
        fault = self.broken(error)
        if not self.is_client:
            raise fault from error
        if not self.gone:
            self.gone = fault.detail
            self._send = self._discard
            self._drop_pending()
            self.want(self._interest & ~OUT)
            self.connection.client_gone()

    def _discard(self, chunk: Chunk) -> int:
        self.sent -= len(chunk)  # the caller adds it
        return len(chunk)

    def _drop_pending(self) -> None:
        self._pending = None
        self.pending_bytes = 0
        self.blocked = False
        if self._pipe is not None:
            self._pipes.give_back(self._pipe)
            self._pipe = None

    @property
    def delivered(self) -> bool:
        """True when the peer's kernel has everything that was sent: to close the socket takes nothing of it back."""
        queued = fcntl.ioctl(self.fd, termios.TIOCOUTQ, bytes(4))
        return not self.blocked and int.from_bytes(queued, sys.byteorder) == 0

    def want(self, interest: int) -> None:
        """Wait for these events, and always for a reset."""
        if interest == self._interest:
            return
        if self._registered:
            self._epoll.modify(self.fd, interest)
        else:
            self._epoll.register(self.fd, interest)
            self._registered = True
        self._interest = interest

    def mute(self) -> None:
        """Wait for no event until `resume`, not even for a reset, which epoll would repeat for ever."""
        if self._registered:
            self._epoll.unregister(self.fd)
        self._registered = self.reading = False
        self._interest = 0

    def pause(self) -> None:
        """Stop reading for now: the other side does not take it. Most pauses end before epoll must know."""
        self.reading = False

    def ignore(self) -> None:
        """Stop epoll from reporting what arrives during a pause."""
        self.want(self._interest & ~IN)

    def resume(self) -> None:
        self.reading = True
        self.want(self._interest | IN)

    def broken(self, error: OSError) -> Fault:
        """Return the fault for a socket call that failed."""
        reason = Reason.CLIENT_RESET if self.is_client else Reason.BROKER_RESET
        return Fault(reason, error.strerror or type(error).__name__)

    def release(self) -> socket.socket:
        """Leave the pump; the socket stays open and belongs to the caller."""
        self.mute()
        self._drop_pending()
        return self.sock
