# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Changes a request's body while it passes: the relay asks where, and moves the rest unseen.

The request flow calls it whenever bytes of such a request arrive. Only Produce requests have one, in kproxy.producers.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod

from kproxy.wire.primitives import Buffer


class BodyRewriter(metaclass=ABCMeta):
    """Rewrites one request on its way to the broker. The length stays: bytes are replaced by as many others."""

    __slots__ = ("body", "over", "passing")

    def __init__(self, body: int) -> None:
        self.body = body
        """Where the body begins, in the buffer that the request was found in."""
        self.passing = 0
        """Bytes behind the last head that pass unseen."""
        self.over = False
        """True when no more of the request has to be looked at."""

    @abstractmethod
    def look(self, buf: Buffer, pos: int) -> tuple[int, int]:
        """Find the next place to change from `pos` on.

        Return its position, and how many bytes are needed from there on, 0 when enough are there. Raises `Fault` where
        the request does not end as its fields say.
        """

    @abstractmethod
    def head(self, buf: Buffer, pos: int) -> bytes | None:
        """Return the bytes that replace those at `pos`; None where they stay."""
