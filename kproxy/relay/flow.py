# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""What both directions of a connection have in common: a frame that must be whole is held until it is."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

from kproxy.errors import MalformedMessageError
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import Chunk
from kproxy.protocol.fault import Fault

if TYPE_CHECKING:
    from kproxy.protocol.outcomes import Incremental

UNTIL_RESUMED: Final = 1 << 62
"""A need of bytes that never come: what is held waits for another event."""


class Outlet(Protocol):
    """Where bytes go, in order. It takes all of them and keeps those that the peer does not take yet."""

    def send(self, chunk: Chunk) -> None:
        """Send, or keep a copy: the chunk may lie in a buffer that is reused at once."""

    def send_frame(self, size: bytes, chunks: Sequence[Chunk]) -> None:
        """Send a frame that is made of chunks, its size first."""


class Owner(Protocol):
    """The connection that both flows belong to."""

    def unsteady(self) -> None:
        """Decide anew, before the next read, whether to read from either side."""

    def resolved(self) -> None:
        """Note that a parked answer is there."""

    def answered_here(self) -> None:
        """Note that the proxy itself answers a request, at once or in steps."""

    def work(self, stepwise: Incremental) -> None:
        """Take over an answer in steps, none of which is taken yet."""


class Flow(metaclass=ABCMeta):
    """What one peer sends, on its way to the other."""

    __slots__ = ("_held", "_need", "count", "passing", "sink")

    def __init__(self, sink: Outlet) -> None:
        self.sink = sink
        """The other peer."""
        self.passing = 0
        """Bytes of the frame under way that go to the sink unseen, by whichever way."""
        self.count = 0
        """Frames so far."""
        self._held: bytearray | None = None
        self._need = 0  # bytes that `_held` must have before they are looked at

    @property
    def held_bytes(self) -> int:
        return len(self._held) if self._held else 0

    @abstractmethod
    def _scan(self, buf: Chunk, pos: int, now: float) -> Chunk | None:
        """Look at the frames from `pos` on; returns what of them is still to be sent."""

    @abstractmethod
    def go_on(self, now: float) -> None:
        """Take what was held: the answer that it waited for is there."""

    def _hold(self, buf: Chunk, start: int, pos: int, need: int) -> None:
        """Send the bytes between `start` and `pos`; hold those from `pos` on until there are `need` of them."""
        if pos > start:
            self.sink.send(buf[start:pos])
        self._held = bytearray(buf[pos:])
        self._need = need

    def _complete(self, buf: Chunk, now: float) -> int:
        """Complete what is held from `buf`; returns how many bytes were used, -1 if all of `buf` is held now."""
        pos = 0
        while self._held is not None:
            take = min(self._need - len(self._held), len(buf) - pos)
            self._held += buf[pos : pos + take]
            pos += take
            if len(self._held) < self._need:
                return -1
            self._scan_held(now)
        return pos

    def _scan_held(self, now: float) -> None:
        held, self._held = self._held, None
        if held:
            rest = self._scan(memoryview(held), 0, now)
            if rest is not None:
                self.sink.send(rest)

    def _take_up(self, now: float, malformed: Reason) -> None:
        """Look at what was held for another event; `malformed` is the reason if its bytes are malformed."""
        try:
            self._scan_held(now)
        except MalformedMessageError as error:  # bytes of the other peer may have led here
            raise Fault(malformed, str(error)) from error
