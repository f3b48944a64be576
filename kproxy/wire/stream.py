# This module is pure.
"""Messages that are forwarded as they arrive: where their records lie, and where the section with addresses begins."""

from __future__ import annotations

import struct
from typing import Final

from kproxy.wire.generated.skims import REQUEST_STREAMS, STREAMS
from kproxy.wire.primitives import Buffer
from kproxy.wire.tail import Advertise, neutralised
from kproxy.wire.walk import ARRAY, BLOB, Step, StreamLayout

_UNKNOWN_END: Final = 1 << 62


def response_stream(api_key: int, version: int) -> ResponseStream | None:
    """The state of one response under way; None for a response that is not walked as it arrives."""
    layout = STREAMS.get((api_key, version))
    return None if layout is None else ResponseStream(layout)


def request_stream(api_key: int, version: int) -> RecordsWalk | None:
    """The state of one request under way; None for a request that is not walked as it arrives."""
    plan = REQUEST_STREAMS.get((api_key, version))
    return None if plan is None else RecordsWalk(plan)


class RecordsWalk:
    """A walk over one frame's body, from its first byte, that stops at each blob of records.

    `blob` is the size of the blob that begins at the position which `to_blob` returned; 0 where it has not come to one.
    `errors` are the error codes other than zero so far.
    """

    __slots__ = ("_levels", "blob", "errors")

    def __init__(self, plan: tuple[Step, ...]) -> None:
        self._levels = [_Level(plan, 1)]
        self.blob = 0
        self.errors: list[int] = []

    @property
    def at_end(self) -> bool:
        """Whether all that is walked has been: what is left of the frame needs no look."""
        return not self._levels

    def to_blob(self, view: Buffer, at: int) -> int:
        """Walk on from `at`, which is behind the last blob; returns up to where it is understood and may be forwarded.

        What lies between there and the view's end must come again at the front of the next one, with more behind it.
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
        """Begin the next element, of the innermost array that is not at its end."""
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
    """One response frame's body, up to the section with its node endpoints.

    `skip` bytes of records lie directly behind the position that `feed` returned, and need no look.
    """

    __slots__ = ("_layout", "skip")

    def __init__(self, layout: StreamLayout) -> None:
        super().__init__(layout.plan)
        self._layout = layout
        self.skip = 0

    @property
    def at_tail(self) -> bool:
        """Whether the section with the node endpoints comes next: gather what is left of the frame for `neutralise`."""
        return self.at_end

    def feed(self, buf: Buffer, pos: int, end: int) -> int:
        """Walk what is there; returns up to where it is understood and may be forwarded.

        What lies between there and `end` must come again at the front of the next call, with more behind it.
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
        """The last section, of the same length, with addresses for the client, or without any when they are longer.

        What is left over is filled by a tagged field of zeros that no client knows (KIP-482).
        """
        return neutralised(self._layout, tail, advertise)


class _Level:
    """How far the walk has come in one array: the step that is next, and the elements left with the current one."""

    __slots__ = ("index", "left", "plan")

    def __init__(self, plan: tuple[Step, ...], count: int) -> None:
        self.plan = plan
        self.index = 0
        self.left = count
