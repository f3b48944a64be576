"""Counts the steps of Trio's tasks, between which the relay has its turns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import trio


class Steps(trio.abc.Instrument):
    """The number of the step that runs now."""

    def __init__(self) -> None:
        self.number = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.number += 1


@contextmanager
def counted() -> Iterator[Steps]:
    """Count during the block."""
    steps = Steps()
    trio.lowlevel.add_instrument(steps)
    try:
        yield steps
    finally:
        trio.lowlevel.remove_instrument(steps)
