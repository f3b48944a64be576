"""A thread that tells when the loop stands still: what the loop is at, at that moment.

The process runs it beside the loop. It reads what the pump notes in `LoopLag`, and asks the loop for nothing.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Final

import structlog

from kproxy.observe.loop_lag import LoopLag
from kproxy.observe.stalls import Stall, Stalls, next_look
from kproxy.observe.troubles import LogLimit

_FRAMES: Final = 30
"""The most frames that a line has: those where the loop is, without those that lead there."""
_TOLD: Final = {
    "loop": "the loop stands still: no client is served",
    "tasks": "Trio's tasks stand still, although connections are served",
}

log = structlog.get_logger("kproxy.watchdog")


@contextmanager
def watched_loop(lag: LoopLag) -> Iterator[None]:
    """Watch the loop of the calling thread during the block."""
    over = threading.Event()
    # A daemon: a process that ends in any other way must not wait for it.
    thread = threading.Thread(target=_watch, args=(lag, threading.get_ident(), over), name="watchdog", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _watch(lag: LoopLag, thread: int, over: threading.Event) -> None:
    stalls, limit = Stalls(), LogLimit()
    while not over.wait(next_look(lag.busy_since, lag.beat_due, time.monotonic())):
        now = time.monotonic()
        stall = stalls.look(lag.busy_since, lag.beat_due, now)
        if stall is None:
            continue
        lag.stalls[stall.what] += not stall.told
        left_out = limit.due(f"{stall.what} {stall.told}", now)
        if left_out is not None:
            _tell(stall, _stack(thread), left_out)


def _tell(stall: Stall, stack: Sequence[str], left_out: int) -> None:
    try:
        log.error(_TOLD[stall.what], seconds=round(stall.seconds, 3), stack=stack, left_out=left_out)
    except Exception:  # what cannot be logged is counted
        pass


def _stack(thread: int) -> list[str]:
    """Return where a thread is, innermost last; functions that mypyc has compiled have no frames."""
    frame: FrameType | None = sys._current_frames().get(thread)
    lines: list[str] = []
    while frame is not None and len(lines) < _FRAMES:
        lines.append(f"{frame.f_globals.get('__name__')}:{frame.f_lineno} {frame.f_code.co_name}")
        frame = frame.f_back
    return lines[::-1]
