# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""The outcomes of a request that was held whole: it goes on, or the proxy answers now, later, or after asking.

The handler of an `ApiPolicy` returns one for each such request, or None to send it on unchanged. The request flow then
carries it out.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

from kproxy.observe.reasons import Reason


@dataclass(frozen=True, slots=True)
class Forward:
    """Send this whole frame, with its size, to the broker in place of the request; `last` is as in `Answer`.

    With `unseen` set, the broker's response passes although the policy wants to see responses: this one needs no look.
    """

    frame: bytes
    last: Reason | None = None
    unseen: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The proxy's own response: a whole frame with its size. It waits its turn among the broker's responses.

    With `last` set, nothing that the client sends after this request is read. When all responses owed are out, its
    connection closes for that reason; `detail` is for the log.
    """

    frame: bytes
    last: Reason | None = None
    detail: str = ""


class Deferred:
    """The proxy's own response, which comes later. The client is still read; responses behind this one wait for it.

    `resolve` must not depend on anything that the client sends next: behind a dialogue the client is not read.
    """

    __slots__ = ("_abandoned", "_on_abandoned", "_on_resolved", "detail", "frame", "last")

    def __init__(self, on_abandoned: Callable[[], None] | None = None) -> None:
        """`on_abandoned` is called once if the connection ends before there is an answer."""
        self._on_abandoned = on_abandoned
        self._on_resolved: Callable[[], None] | None = None
        self._abandoned = False
        self.frame: bytes | None = None
        """What it was resolved with; None before."""
        self.detail = ""
        self.last: Reason | None = None
        """As in `Answer`, once it is resolved; what came behind the request until then is dealt with."""

    def resolve(self, frame: bytes, last: Reason | None = None, detail: str = "") -> None:
        """Answer by a whole frame with its size, in Trio's thread. Only the first call counts, none after `abandon`.

        With `last` the connection ends behind the answer, which may be empty then; `detail` is for the log.
        """
        if self.frame is not None or self._abandoned:
            return
        self.frame, self.last, self.detail = frame, last, detail
        on_resolved, self._on_resolved, self._on_abandoned = self._on_resolved, None, None
        if on_resolved is not None:
            on_resolved()

    def wait(self, on_resolved: Callable[[], None]) -> None:
        """Have `on_resolved` called when the answer is there; for the relay."""
        self._on_resolved = on_resolved

    def abandon(self) -> None:
        """Give up waiting for the answer; for the relay."""
        self._abandoned = True
        on_abandoned, self._on_resolved, self._on_abandoned = self._on_abandoned, None, None
        if on_abandoned is not None:
            on_abandoned()


@dataclass(frozen=True, slots=True)
class Hold:
    """Hold the request, and what the client sends behind it, for so many seconds; then deal with it."""

    seconds: float


Steps = Generator[bytes, bytes, bytes | Deferred]
"""Yields requests, receives the response to each, returns the client's response."""


@dataclass(frozen=True, slots=True)
class AskBroker:
    """Ask the broker, on this connection, before the client is answered.

    `steps` yields whole request frames with their size and any correlation id. It receives each response without its
    size. It returns the client's response with its size, or a `Deferred`, such as an `Incremental`. The client is not
    read meanwhile: its next request must not come between. If `steps` raises, the connection ends; if that ends first,
    `steps` is closed.
    """

    steps: Steps


class Incremental(Deferred):
    """The proxy's own response, worked out in steps: between any two the relay first moves the bytes that are there.

    `steps` yields between them and returns a whole frame with its size. It runs on when the connection has ended: the
    client's last request counts, too. If it raises, the connection ends.
    """

    __slots__ = ("_steps", "done")

    def __init__(self, steps: Generator[None, None, bytes]) -> None:
        super().__init__()
        self._steps = steps
        self.done = False

    def step(self) -> None:
        """Take one step. The last step resolves the answer; after it, or after a step that raised, `done` is set."""
        try:
            next(self._steps)
        except StopIteration as over:
            self.done = True
            self.resolve(over.value)
        except BaseException:
            self.done = True
            raise

    def finish(self) -> None:
        """Take all steps that are left, at once."""
        while not self.done:
            self.step()


Outcome = Forward | Answer | AskBroker | Deferred
