# This module is pure (no I/O, no clock).
"""Finds clients that send a request too slowly: a byte now and then is progress, yet would hold a connection for ever.

The pump's sweep calls `look` for each connection that is in the middle of a request and is being read.
"""

from __future__ import annotations


class SlowRequests:
    """A request has `patience` seconds, and in addition the time that its bytes take at `rate` bytes a second.

    Only time during which the client is read counts: a client that waits for a slow broker is not slow itself.
    """

    __slots__ = ("_before", "_now", "patience", "rate")

    def __init__(self, patience: float, rate: int) -> None:
        self.patience = patience
        self.rate = rate
        self._before: dict[int, tuple[int, int, float, float]] = {}
        self._now: dict[int, tuple[int, int, float, float]] = {}

    def __len__(self) -> int:
        return len(self._now)

    def next_sweep(self) -> None:
        """Begin a sweep: what the last one did not see in mid-request is forgotten."""
        self._before, self._now = self._now, {}

    def look(self, connection: int, requests: int, received: int, now: float) -> bool:
        """Return True when the request under way has taken too long.

        `requests` is how many began before it, `received` the bytes of the connection so far.
        """
        spent = 0.0
        last = self._before.get(connection)
        if last is not None and last[0] == requests:
            passed, came = now - last[2], received - last[1]
            spent = max(0.0, last[3] + passed - came / self.rate)
        self._now[connection] = requests, received, now, spent
        return spent > self.patience
