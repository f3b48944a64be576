# This module is pure (no I/O, no clock).
"""Who stays when the admin port has no room for all: the slots of its connections, and the pages held in memory.

The acceptor asks whether there is room before it accepts. A connection may be ended for another's sake while kproxy
waits for its client: for the rest of a request, for the next one, or until the client takes its response. A new
connection has a moment for its first bytes; if these are a whole head, nobody ends it before it is answered. So no
clients, however many, slow or silent, keep a probe out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_SITE: Final = 64
"""The bits of an IPv6 address that say whose it is: one client has all addresses that begin with them."""

_SOON: Final = 0.002
"""Seconds until there may be room although nobody can be ended now."""
_LATER: Final = 0.02
"""The most of such seconds: those whose requests are answered meanwhile may be ended before any new one."""
_PROTECTED: Final = 0.75
"""The most of all slots that first requests protect: a page of many metrics takes a moment."""


class Slot:
    """The place of one connection; `end` ends the connection, and may be called more than once."""

    __slots__ = ("end", "ended", "fresh", "kept_until", "share")

    def __init__(self, share: str, end: Callable[[], object], kept_until: float) -> None:
        self.share = share
        self.end = end
        self.kept_until = kept_until
        """As long as it is fresh, nobody ends it before."""
        self.fresh = True
        """Whether its first bytes have not come, or are a whole head."""
        self.ended = False


class Slots:
    """At most `limit` connections that are not being ended. Times are in seconds, by any clock."""

    def __init__(self, limit: int, grace: float) -> None:
        """A connection has `grace` seconds for its first bytes before it may be ended."""
        self.evicted = 0
        """How many connections were ended for others' sake."""
        self._limit = limit
        self._grace = grace
        self._live = 0
        self._waiting: dict[str, dict[Slot, None]] = {}
        """Slots that may be taken away, by share; the one that made no progress for longest comes first."""

    def room_in(self, now: float) -> float:
        """Return in how many seconds to try for room; 0.0 when there is room, if need be in place of another."""
        if self._live < self._limit or self._oldest(now) is not None:
            return 0.0
        fresh = [slot.kept_until for same in self._waiting.values() for slot in same]
        return min(max(_SOON, min(fresh) - now), _LATER) if fresh else _SOON

    def enter(self, share: str, end: Callable[[], object], now: float) -> Slot:
        """Return a slot, if need be in place of a waiting one, when `room_in` has said that there is room."""
        if self._live >= self._limit:
            self.evict(now)
        self._live += 1
        slot = Slot(share, end, now + self._grace)
        self._waiting.setdefault(share, {})[slot] = None
        return slot

    def leave(self, slot: Slot) -> None:
        """Give the slot back, when the connection has ended for whatever reason."""
        if not slot.ended:
            self._forget(slot)
            slot.ended = True
            self._live -= 1

    def slow(self, slot: Slot) -> None:
        """Note that the connection's first bytes are no whole head: it may be ended from now on."""
        slot.fresh = False

    def wait(self, slot: Slot) -> None:
        """Note that the client made progress, and that kproxy waits for it or for a turn from now on."""
        if not slot.ended:
            slot.fresh = False
            self._forget(slot)
            self._waiting.setdefault(slot.share, {})[slot] = None

    def resume(self, slot: Slot, kept_until: float) -> None:
        """Note that kproxy, which had a part of a handshake to look at, waits for the client again.

        A fresh connection is kept until then for its next part. A slow one keeps its place in the order, as it has made
        no progress.
        """
        if slot.fresh:
            slot.kept_until = kept_until
        if not slot.ended and (slot.fresh or not self._is_waiting(slot)):
            self._forget(slot)
            self._waiting.setdefault(slot.share, {})[slot] = None

    def work(self, slot: Slot) -> bool:
        """Note that a handler works for the connection, which nobody ends meanwhile; False if it was ended before."""
        self._forget(slot)
        return not slot.ended

    def protect(self, slot: Slot, kept_until: float) -> None:
        """Let nobody end the connection while its first request is answered.

        If this holds for most already, nobody ends it before `kept_until`: a quick answer is on its way by then.
        """
        if not slot.fresh:
            return
        waiting = sum(map(len, self._waiting.values()))
        if self._live - waiting < self._limit * _PROTECTED:
            self._forget(slot)
        else:
            slot.kept_until = max(slot.kept_until, kept_until)

    def evict(self, now: float) -> bool:
        """End the connection that waits longest of the share that has most; returns whether there was one."""
        oldest = self._oldest(now)
        if oldest is not None:
            self.end(oldest)
        return oldest is not None

    def end(self, slot: Slot) -> None:
        """End a connection, and count its slot as free from now on."""
        if not slot.ended:
            self.leave(slot)
            self.evicted += 1
            slot.end()

    def _oldest(self, now: float) -> Slot | None:
        most = max(self._waiting.values(), key=len, default={})
        return next((slot for slot in most if not slot.fresh or now >= slot.kept_until), None)

    def _is_waiting(self, slot: Slot) -> bool:
        return slot in self._waiting.get(slot.share, ())

    def _forget(self, slot: Slot) -> None:
        same = self._waiting.get(slot.share)
        if same is not None:
            same.pop(slot, None)
            if not same:
                del self._waiting[slot.share]


class HeldPages:
    """Whole pages that clients have not taken yet: at most `limit` bytes in all, or one page.

    Clients that asked at the same time share a page, which counts once.
    """

    def __init__(self, limit: int, slots: Slots) -> None:
        self.bytes = 0
        self._limit = limit
        self._slots = slots
        self._takers: dict[int, tuple[bytes, set[Slot]]] = {}
        """By the page's id, in the order in which they were made."""

    def hold(self, page: bytes, slot: Slot) -> None:
        """Count the page as held for the connection. The connections that take the oldest pages make room for it."""
        if id(page) not in self._takers:
            while self._takers and self.bytes + len(page) > self._limit:
                self._drop(next(iter(self._takers)))
            self._takers[id(page)] = page, set()
            self.bytes += len(page)
        self._takers[id(page)][1].add(slot)

    def release(self, page: bytes, slot: Slot) -> None:
        """Hold the page no longer for this connection."""
        held = self._takers.get(id(page))
        if held is not None:
            held[1].discard(slot)
            if not held[1]:
                self.bytes -= len(self._takers.pop(id(page))[0])

    def _drop(self, oldest: int) -> None:
        page, takers = self._takers.pop(oldest)
        self.bytes -= len(page)
        for slot in takers:
            self._slots.end(slot)
