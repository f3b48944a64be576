# This module is pure and compiled.
"""What both directions of a connection have in common: a frame that must be whole is held until it is. Pure."""

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

UNTIL_TOLD: Final = 1 << 62
"""Bytes to be held that never come: what is behind waits for something else."""


class Outlet(Protocol):
    """Where bytes go, in order; it takes all of them and keeps what the peer does not take yet."""

    def send(self, chunk: Chunk) -> None:
        """Send, or keep a copy: the chunk may lie in a buffer that is used again at once."""

    def send_frame(self, size: bytes, chunks: Sequence[Chunk]) -> None:
        """Send a frame that was put together from chunks, its size first."""


class Owner(Protocol):
    """The connection that both flows are of."""

    def unsteady(self) -> None:
        """Whether to read from either side is to be decided anew before the next read."""

    def resolved(self) -> None:
        """A parked answer is there."""

    def answered_here(self) -> None:
        """A request is answered by the proxy itself, at once or in steps."""

    def work(self, stepwise: Incremental) -> None:
        """A request is answered in steps, of which none is taken yet."""


class Flow(metaclass=ABCMeta):
    """What one peer sends, on its way to the other, the `sink`; `count` frames so far.

    `passing` bytes of the frame under way go there unseen, whoever moves them.
    """

    __slots__ = ("_held", "_need", "count", "passing", "sink")

    def __init__(self, sink: Outlet) -> None:
        self.sink = sink
        self.passing = 0
        self.count = 0
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
        """What was waited for is there: take what was held behind it."""

    def _hold(self, buf: Chunk, start: int, pos: int, need: int) -> None:
        """Send what is between `start` and `pos`; keep what is behind until there are `need` bytes of it."""
        if pos > start:
            self.sink.send(buf[start:pos])
        self._held = bytearray(buf[pos:])
        self._need = need

    def _complete(self, buf: Chunk, now: float) -> int:
        """Take what is held its missing bytes from `buf`; returns how many, -1 where all of `buf` is held now."""
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
        """Look at what was held for something else than its rest; `malformed` says whose fault its bytes would be."""
        try:
            self._scan_held(now)
        except MalformedMessageError as error:  # bytes of the other peer may have brought us here
            raise Fault(malformed, str(error)) from error
