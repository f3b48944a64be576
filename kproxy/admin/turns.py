"""Turns: what the admin port has to do never keeps the relay from its sockets for long.

Connections parse and answer a few at a time, and whoever makes a long page pauses after a moment. The relay looks at
its sockets whenever all tasks that could run have run.
"""

from __future__ import annotations

import time
from typing import Final

import trio

SECONDS: Final = 0.00025
"""Of work between two looks of the relay. Half the CPU time of a slice of 50 µs would be that of passing on."""
AT_ONCE: Final = 8
"""Connections that do a step between two looks of the relay; one takes a tenth of a millisecond."""


class Turn:
    """One task's turn: `pause` passes on to others once it was long."""

    __slots__ = ("_ends",)

    def __init__(self) -> None:
        self._ends = time.perf_counter() + SECONDS

    async def pause(self) -> None:
        """Give others their turn if this one is over. Call it after each piece of work of at most 0.1 ms."""
        if time.perf_counter() >= self._ends:
            await trio.lowlevel.checkpoint()
            self._ends = time.perf_counter() + SECONDS
