# This module is pure and compiled.
"""A request whose body changes while it passes: the relay asks where, and moves the rest unseen."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod

from kproxy.wire.primitives import Buffer


class BodyRewriter(metaclass=ABCMeta):
    """One request on its way to the broker. Its length stays: bytes are replaced by as many others."""

    __slots__ = ("body", "over", "passing")

    def __init__(self, body: int) -> None:
        self.body = body
        """Where the body begins, in the buffer that the request was found in."""
        self.passing = 0
        """Bytes behind the last head that go on unseen."""
        self.over = False
        """Whether nothing more of the request needs a look."""

    @abstractmethod
    def look(self, buf: Buffer, pos: int) -> tuple[int, int]:
        """Find the next place to change from `pos` on.

        Returns its position, and how many bytes from there on are wanted, 0 for no more. Raises `Fault` where the
        request does not end as its fields say.
        """

    @abstractmethod
    def head(self, buf: Buffer, pos: int) -> bytes | None:
        """The bytes that take the place of those at `pos`; None where they stay."""
