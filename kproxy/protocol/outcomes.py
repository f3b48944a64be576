# This module is pure and compiled.
"""What becomes of a request that was held whole: it goes on, or the proxy answers now, later, or after asking."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

from kproxy.observe.reasons import Reason


@dataclass(frozen=True, slots=True)
class Forward:
    """Send this whole frame, with its size, to the broker in place of the request; `last` is as in `Answer`."""

    frame: bytes
    last: Reason | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The proxy's own response: a whole frame with its size. It waits its turn among the broker's responses.

    With `last` nothing that the client sends after this request is read, and when all that it is owed is out its
    connection closes for that reason.
    """

    frame: bytes
    last: Reason | None = None


class Deferred:
    """The proxy's own response, which comes later. The client is read on; responses behind this one wait for it.

    Nothing that the client sends must be needed to `resolve` it: behind a conversation the client is not read.
    `frame` is what it was resolved with.
    """

    __slots__ = ("_abandoned", "_on_abandoned", "_on_resolved", "frame")

    def __init__(self, on_abandoned: Callable[[], None] | None = None) -> None:
        """`on_abandoned` is called, once, when the connection has ended and there was no answer."""
        self._on_abandoned = on_abandoned
        self._on_resolved: Callable[[], None] | None = None
        self._abandoned = False
        self.frame: bytes | None = None

    def resolve(self, frame: bytes) -> None:
        """Answer by a whole frame with its size, from Trio's thread; the first counts, as long as somebody waits."""
        if self.frame is not None or self._abandoned:
            return
        self.frame = frame
        on_resolved, self._on_resolved, self._on_abandoned = self._on_resolved, None, None
        if on_resolved is not None:
            on_resolved()

    def wait(self, on_resolved: Callable[[], None]) -> None:
        """The relay's: have this called when the answer is there."""
        self._on_resolved = on_resolved

    def abandon(self) -> None:
        """The relay's: nobody waits any more."""
        self._abandoned = True
        on_abandoned, self._on_resolved, self._on_abandoned = self._on_abandoned, None, None
        if on_abandoned is not None:
            on_abandoned()


Steps = Generator[bytes, bytes, bytes | Deferred]
"""Yields requests, gets the response to each, returns the client's response."""


@dataclass(frozen=True, slots=True)
class AskBroker:
    """Ask the broker, on this connection, before the client is answered.

    `steps` yields whole request frames with their size, of any correlation id, is sent each one's response without its
    size, and returns the client's response with its size, or where it will come from. The client is not read meanwhile:
    its next request must not come between. What `steps` raises ends the connection; where the connection ends first,
    `steps` is closed.
    """

    steps: Steps


class Incremental(Deferred):
    """The proxy's own response, worked out in steps: what is there to be relayed goes first between any two.

    `steps` yields between them and returns a whole frame with its size. It goes on when the connection has ended: what
    a client says last counts, too. What it raises ends the connection.
    """

    __slots__ = ("_steps", "done")

    def __init__(self, steps: Generator[None, None, bytes]) -> None:
        super().__init__()
        self._steps = steps
        self.done = False

    def step(self) -> None:
        """Take one; after the last, which resolves it, it is `done`, as it is when the step raised."""
        try:
            next(self._steps)
        except StopIteration as over:
            self.done = True
            self.resolve(over.value)
        except BaseException:
            self.done = True
            raise

    def finish(self) -> None:
        """Take all that are left, at once."""
        while not self.done:
            self.step()


Outcome = Forward | Answer | AskBroker | Deferred
