"""Responses that are forwarded as they arrive: where their records lie, and where the section with addresses begins."""

from __future__ import annotations

import struct
from typing import Final

from kproxy.wire.generated.skims import STREAMS
from kproxy.wire.primitives import Buffer
from kproxy.wire.tail import Advertise, neutralised
from kproxy.wire.walk import ARRAY, RUN, Step, StreamLayout

_UNKNOWN_END: Final = 1 << 62


def response_stream(api_key: int, version: int) -> ResponseStream | None:
    """The state of one response under way; None for a response that is not walked as it arrives."""
    layout = STREAMS.get((api_key, version))
    return None if layout is None else ResponseStream(layout)


class ResponseStream:
    """One response frame's body, from its first byte."""

    __slots__ = ("_layout", "_levels", "errors", "skip")

    def __init__(self, layout: StreamLayout) -> None:
        self._layout = layout
        self._levels = [_Level(layout.plan, 1)]
        self.skip = 0
        """Bytes of records directly behind the position that `feed` returned, that need no look."""
        self.errors: list[int] = []
        """Error codes other than zero so far."""

    @property
    def at_tail(self) -> bool:
        """Whether the section with the node endpoints comes next: gather what is left of the frame for `neutralise`."""
        return not self._levels

    def feed(self, buf: Buffer, pos: int, end: int) -> int:
        """Walk what is there; returns up to where it is understood and may be forwarded.

        What lies between there and `end` must come again at the front of the next call, with more behind it.
        """
        view, at, errors = memoryview(buf)[pos:end], 0, self.errors
        self.skip = 0
        while self._levels and not self.skip:
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
            if count > 0 and step.kind != RUN:
                if step.kind == ARRAY:
                    self._levels.append(_Level(step.plan, count))
                    continue
                at = min(reached + count, len(view))
                self.skip = reached + count - at
            if level.index == len(level.plan):
                self._end_element()
        return pos + at

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
