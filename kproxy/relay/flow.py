# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""One direction of a relayed connection: the part that requests and responses have in common.

The connection feeds a flow whatever it reads from one peer. The subclass finds the frames and looks at them; the rest
goes on to the other peer at once. A frame that must be seen whole is held until it is complete.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

from kproxy.errors import MalformedMessageError
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import Chunk
from kproxy.protocol.fault import Fault
from kproxy.wire.arriving import ArrivingWalk

if TYPE_CHECKING:
    from kproxy.protocol.outcomes import Incremental

_SIZE_BYTES: Final = 4
UNTIL_RESUMED: Final = 1 << 62
"""As the `need` of `_hold`: no number of bytes is enough, and the flow stops until `go_on` is called."""
TURN: Final = 128
"""The cost of the frames that one connection has looked at in a row before others get their turn. One is a frame that
passes: 3 to 6 µs, compiled. 128 KiB hold 9,000 of the smallest.
"""
SMALL: Final = 8 << 10
"""The most bytes that a connection may hold without being counted: so little is like its own memory."""
SHIFT: Final = 8
"""A frame that is handled whole costs one more for every 256 bytes: decoding takes as long as passing a frame then."""


class Outlet(Protocol):
    """Where bytes go, in order. It takes all of them and keeps those that the peer does not take yet."""

    def send(self, chunk: Chunk) -> None:
        """Send, or keep a copy: the chunk may lie in a buffer that is reused at once."""

    def send_frame(self, size: bytes, chunks: Sequence[Chunk]) -> None:
        """Send a frame that is made of chunks, its size first."""


class Owner(Protocol):
    """The connection that both flows belong to."""

    def unsteady(self) -> None:
        """Check before the next read whether each side may still be read, and what is held: either may have changed."""

    def resolved(self) -> None:
        """Note that a deferred answer (`Deferred`) is ready."""

    def answered_here(self) -> None:
        """Note that the proxy itself answers a request, at once or in steps."""

    def end_for(self, reason: Reason, detail: str) -> None:
        """Take no more requests, and end the connection once everything owed is out."""

    def throttle(self, seconds: float) -> None:
        """Do not read the client for so long, once its present request is complete."""

    def work(self, stepwise: Incremental) -> None:
        """Run the steps of an `Incremental` answer; none has run yet."""

    @property
    def answered(self) -> int:
        """The number of requests whose response is out."""


class Flow(metaclass=ABCMeta):
    """What one peer sends, on its way to the other."""

    __slots__ = ("_arriving", "_held", "_need", "_owner", "_turn", "count", "passing", "resting", "sink")

    def __init__(self, sink: Outlet, owner: Owner) -> None:
        self._owner = owner
        self.sink = sink
        """The other peer."""
        self.passing = 0
        """Bytes of the present frame still to come that need no look: they are copied, or spliced in the kernel."""
        self.count = 0
        """Frames so far."""
        self.resting = False
        """True when the flow's turn is over: what it holds is taken at `go_on`, and its peer is not read before."""
        self._held: bytearray | None = None
        self._need = 0  # bytes that `_held` must have before they are looked at
        self._turn = TURN  # what is left of it
        self._arriving: ArrivingWalk | None = None  # over the frame that is held

    @property
    def held_bytes(self) -> int:
        if not self._held:
            return 0
        return len(self._held) + (0 if self._arriving is None else self._arriving.kept)

    @property
    def collecting(self) -> bool:
        """True while more bytes are being collected than a connection may hold unnoticed."""
        return self._held is not None and self._need > SMALL

    @abstractmethod
    def _scan(self, buf: Chunk, pos: int, now: float) -> Chunk | None:
        """Look at the frames from `pos` on; returns what of them is still to be sent."""

    @abstractmethod
    def go_on(self, now: float) -> None:
        """Take what was held: the answer that it waited for is there."""

    def _rest(self) -> int:
        """End the flow's turn; returns the `need` of `_hold` for what it has not looked at."""
        self.resting = True
        return UNTIL_RESUMED

    def _hold(self, buf: Chunk, start: int, pos: int, need: int) -> None:
        """Send the bytes between `start` and `pos`; hold those from `pos` on until there are `need` of them."""
        if pos > start:
            self.sink.send(buf[start:pos])
        self._held = bytearray(buf[pos:])
        self._need = need
        if need > SMALL:
            self._owner.unsteady()
        if self._arriving is not None:
            self._arriving.look(self._held, _SIZE_BYTES, len(self._held))

    def _complete(self, buf: Chunk, now: float) -> int:
        """Complete what is held from `buf`; returns how many bytes were used, -1 if all of `buf` is held now."""
        pos = 0
        while self._held is not None:
            take = min(self._need - len(self._held), len(buf) - pos)
            self._held += buf[pos : pos + take]
            pos += take
            if len(self._held) < self._need:
                if self._arriving is not None:
                    self._arriving.look(self._held, _SIZE_BYTES, len(self._held))
                return -1
            self._scan_held(now)
        return pos

    def _scan_held(self, now: float) -> None:
        held, self._held = self._held, None
        if held:
            rest = self._scan(memoryview(held), 0, now)
            if rest is not None:
                self.sink.send(rest)

    def _take_up(self, now: float, malformed: Reason, turn: int = TURN) -> None:
        """Look at what was held until `go_on`; `malformed` is the reason to close for if those bytes are malformed."""
        self.resting = False
        self._turn = turn
        try:
            self._scan_held(now)
        except MalformedMessageError as error:  # the caller may be reading from the other peer
            raise Fault(malformed, str(error)) from error
