"""Ctrl-C, SIGTERM and a closed terminal as one exception, so that everything is put away on the way out."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """A signal asks for the end. Not an Exception: nobody on the way may take it for a failure and go on."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(number.name)
        self.number = number


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Inside, the first signal raises `Stopped` in the main thread; later ones do not disturb the putting away."""

    def stop(number: int, _frame: FrameType | None) -> None:
        for ending in _ENDING:
            signal.signal(ending, signal.SIG_IGN)
        raise Stopped(signal.Signals(number))

    before = {ending: signal.signal(ending, stop) for ending in _ENDING}
    try:
        yield
    finally:
        for ending, handler in before.items():
            signal.signal(ending, handler)
