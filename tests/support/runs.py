"""A test that runs its client again where a run proves nothing: how often, in the test's report."""

from __future__ import annotations

from collections.abc import Callable


class Runs:
    """The runs of one test. They are in the gate's reports, and more than one in the summary of pytest."""

    def __init__(self, note: Callable[[int], object]) -> None:
        """`note` keeps their number."""
        self._note = note
        self._count = 0

    def begin(self, what: str) -> None:
        """Begin one more."""
        self._count += 1
        self._note(self._count)
        print(f"run {self._count}: {what}")
