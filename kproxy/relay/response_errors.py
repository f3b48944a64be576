# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Counts the error codes of the broker's responses, and has them reported where somebody listens.

The response flow calls it for each frame, before a room changes the frame or the frame passes.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import Final

from kproxy.protocol.api_table import GATHERED, Chunk, OnResponse, Route
from kproxy.protocol.context import Context
from kproxy.relay.flow import SHIFT

_INT16: Final = Struct(">h")
_SIZE: Final = 4
_HEAD: Final = 8
_PASS: Final = OnResponse.PASS


def count(context: Context, route: Route, buf: Chunk, pos: int, frame: int, now: float) -> int:
    """Count a frame's codes; of a large one, or one that is not all there, only that at a fixed place.

    At least `Route.head_bytes` of it are there, or all. Returns what it took of the flow's turn.
    """
    most = route.gathers if route.on_response is _PASS else GATHERED  # a size, so that pieces make no difference
    if route.walked and frame <= most and frame <= len(buf) - pos:
        return _walk(context, route, buf, pos, frame, now)
    if route.error_at is None or frame < route.head_bytes:
        return 0
    if route.body_at == _HEAD or not buf[pos + _HEAD]:
        (code,) = _INT16.unpack_from(buf, pos + route.error_at)
        if code:
            _note(context, route, code, now)
    elif route.on_response is not _PASS:  # tagged fields in its header, which no broker sends, shift the code
        return _walk(context, route, buf, pos, frame, now)
    return 0


def count_codes(context: Context, route: Route, codes: Iterable[int], now: float) -> None:
    """Count the codes of a response that was walked as it came."""
    for code in codes:
        _note(context, route, code, now)


def _walk(context: Context, route: Route, buf: Chunk, pos: int, frame: int, now: float) -> int:
    walk, reports, end = route.errors, context.cluster.errors, pos + frame
    assert walk is not None
    for code, topic, group in walk.look(buf, pos + _SIZE, end):
        route.counters.count_error(code)
        if reports.wants(route.api_key, code, now):
            names = walk.name(buf, topic, end), walk.name(buf, group, end)
            reports.answered(context, route.api_key, route.version, code, *names)
    return frame >> SHIFT


def _note(context: Context, route: Route, code: int, now: float) -> None:
    route.counters.count_error(code)
    reports = context.cluster.errors
    if reports.wants(route.api_key, code, now):
        reports.answered(context, route.api_key, route.version, code, None, None)
