"""Bounds on time, CPU and memory: noted in the gate, since a busy machine moves them; asserted where it is quiet.

A test that asks for the fixture `bounds` is marked `measured`. `make test-long` sets TEST_MEASURED=1.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

MEASURED: Final = "TEST_MEASURED"
ASSERTED: Final = os.environ.get(MEASURED) == "1"


class Bounds:
    """The figures of one test."""

    def __init__(self, note: Callable[[str, float, float], object], *, asserted: bool = ASSERTED) -> None:
        """`note` keeps what was measured, the figure and its bound for the report."""
        self._note = note
        self._asserted = asserted

    def below(self, figure: float, most: float, what: str) -> None:
        """Note a figure, in seconds or bytes; AssertionError if it is not below `most`, where figures are measured."""
        self._note(what, figure, most)
        assert figure < most or not self._asserted, f"{what}: {figure:g}, not below {most:g}"
