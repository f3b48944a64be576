# This module is pure (no I/O, no clock).
"""Walk messages that are forwarded as they arrive: find their records and the section with addresses.

The relay makes a `ResponseStream` for each Fetch or ShareFetch response that may have addresses and is not whole in one
read. `ProduceRewrite` makes a `RecordsWalk` for each Produce request that it rewrites.
"""

from __future__ import annotations

import struct
from typing import Final

from kproxy.wire.generated.skims import REQUEST_STREAMS, STREAMS
from kproxy.wire.primitives import Buffer
from kproxy.wire.tail import Advertise, neutralised
from kproxy.wire.walk import ARRAY, BLOB, Step, StreamLayout

_UNKNOWN_END: Final = 1 << 62


def response_stream(api_key: int, version: int) -> ResponseStream | None:
    """Return the state for a new response; None for a response that is not walked as it arrives."""
    layout = STREAMS.get((api_key, version))
    return None if layout is None else ResponseStream(layout)


def request_stream(api_key: int, version: int) -> RecordsWalk | None:
    """Return the state for a new request; None for a request that is not walked as it arrives."""
    plan = REQUEST_STREAMS.get((api_key, version))
    return None if plan is None else RecordsWalk(plan)


class RecordsWalk:
    """A walk over one frame's body, from its first byte, that stops at each blob of records.

    `blob` is the size of the blob at the position that `to_blob` returned; 0 when it has not reached one. `errors` are
    the non-zero error codes so far.
    """

    __slots__ = ("_levels", "blob", "errors")

    def __init__(self, plan: tuple[Step, ...]) -> None:
        self._levels = [_Level(plan, 1)]
        self.blob = 0
        self.errors: list[int] = []

    @property
    def at_end(self) -> bool:
        """True when the walk is complete: the rest of the frame needs no look."""
        return not self._levels

    def to_blob(self, view: Buffer, at: int) -> int:
        """Walk on from `at`, which is behind the last blob; return the position up to which the bytes may be forwarded.

        The caller must pass the bytes behind that position again, at the start of the next view, with more behind them.
        """
        errors = self.errors
        self.blob = 0
        while self._levels and not self.blob:
            level, known = self._levels[-1], len(errors)
            try:
                reached, count, index = level.plan[level.index].walk(view, at, _UNKNOWN_END, errors)
            except (IndexError, struct.error):
                reached = _UNKNOWN_END
            if reached > len(view):
                del errors[known:]
                break
            at = reached
            step = level.plan[index]
            level.index = index + 1
            if count > 0 and step.kind == ARRAY:
                self._levels.append(_Level(step.plan, count))
                continue
            if count > 0 and step.kind == BLOB:
                self.blob = count
            if level.index == len(level.plan):
                self._end_element()
        return at

    def _end_element(self) -> None:
        """Begin the next element of the innermost array that is not at its end."""
        while self._levels:
            level = self._levels[-1]
            if level.index < len(level.plan):
                return
            level.index = 0
            level.left -= 1
            if level.left:
                return
            self._levels.pop()


class ResponseStream(RecordsWalk):
    """A walk over one response frame's body, up to the section with its node endpoints.

    The `skip` bytes behind the position that `feed` returned are records and need no look.
    """

    __slots__ = ("_layout", "skip")

    def __init__(self, layout: StreamLayout) -> None:
        super().__init__(layout.plan)
        self._layout = layout
        self.skip = 0

    @property
    def at_tail(self) -> bool:
        """True when the section with the node endpoints comes next: gather the rest of the frame for `neutralise`."""
        return self.at_end

    def feed(self, buf: Buffer, pos: int, end: int) -> int:
        """Walk the bytes; return the position up to which they may be forwarded.

        The caller must pass the bytes from there to `end` again in the next call, with more behind them.
        """
        view = memoryview(buf)[pos:end]
        at = self.to_blob(view, 0)
        while self.blob:
            reached = at + self.blob
            if reached > len(view):
                break
            at = self.to_blob(view, reached)
        here = min(self.blob, len(view) - at)
        self.skip = self.blob - here
        return pos + at + here

    def neutralise(self, tail: bytes, advertise: Advertise) -> bytes:
        """Return the last section at the same length, with the client's addresses, or without any if they do not fit.

        A tagged field of zeros that no client knows fills the space left over (KIP-482).
        """
        return neutralised(self._layout, tail, advertise)


class _Level:
    """The walk's position in one array: the next step, and the number of elements left, including the current one."""

    __slots__ = ("index", "left", "plan")

    def __init__(self, plan: tuple[Step, ...], count: int) -> None:
        self.plan = plan
        self.index = 0
        self.left = count
