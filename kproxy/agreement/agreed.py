# This module is pure (no I/O, no clock).
"""What one replica knows of the orders of a virtual cluster: the newest one, and which place has which.

`kproxy.cluster.agreement` has one for each virtual cluster. docs/topology.md has the argument why replicas agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from kproxy.agreement.order import Order


class Copy:
    """What is known of one place where orders are kept."""

    __slots__ = ("error", "newest", "read")

    def __init__(self) -> None:
        self.read = False
        """Whether all of it has been read, and what comes is followed."""
        self.error: str | None = None
        """Why it cannot be read; None while it can, or nobody knows yet."""
        self.newest: Order | None = None
        """The highest order that it is known to have."""

    @property
    def tried(self) -> bool:
        """Whether it has been read, or could not be."""
        return self.read or self.error is not None


class Agreed:
    """The highest order that was seen counts. It is copied to each place that lacks it."""

    def __init__(self, newest: Order | None = None) -> None:
        """`newest` is what was known before a restart."""
        self.newest = newest
        self._copies: dict[str, Copy] = {}
        self._given = 0

    @property
    def copies(self) -> Mapping[str, Copy]:
        """By place."""
        return MappingProxyType(self._copies)

    def keep_in(self, places: Iterable[str]) -> None:
        """Have orders kept in these places only."""
        self._copies = {place: self._copies.get(place, Copy()) for place in places}

    def begin(self, place: str) -> None:
        """Note that a place is read from its beginning: it may have been made anew, without its orders."""
        if place in self._copies:
            error = self._copies[place].error
            self._copies[place] = Copy()
            self._copies[place].error = error

    def read(self, place: str) -> None:
        """Note that all of a place has been read."""
        if place in self._copies:
            self._copies[place].read, self._copies[place].error = True, None

    def lost(self, place: str, why: str) -> None:
        """Note that a place cannot be read."""
        if place in self._copies:
            self._copies[place].read, self._copies[place].error = False, why

    def take(self, place: str | None, order: Order) -> bool:
        """Note an order that a place has, or that has none yet; return whether it is higher than all before."""
        copy = None if place is None else self._copies.get(place)
        if copy is not None and (copy.newest is None or copy.newest.rank < order.rank):
            copy.newest = order
        if self.newest is not None and order.rank <= self.newest.rank:
            return False
        self.newest = order
        return True

    def next_number(self) -> int:
        """Return a number for an order of one's own: higher than all that are known, and than all given before.

        An order that could not be written may still be read one day.
        """
        self._given = max(self._given, 0 if self.newest is None else self.newest.number) + 1
        return self._given

    @property
    def lacking(self) -> Sequence[str]:
        """The places that have been read and lack the newest order."""
        if self.newest is None:
            return []
        rank = self.newest.rank
        return [
            place
            for place, copy in self._copies.items()
            if copy.read and (copy.newest is None or copy.newest.rank < rank)
        ]

    @property
    def learned(self) -> bool:
        """Whether what is active has been learnt from a place."""
        return any(copy.read for copy in self._copies.values())

    @property
    def tried(self) -> bool:
        """Whether each place has been read, or could not be."""
        return all(copy.tried for copy in self._copies.values())

    @property
    def complete(self) -> bool:
        """Whether all places have been read."""
        return all(copy.read for copy in self._copies.values())
