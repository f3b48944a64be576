# This module is compiled (by mypyc).
"""Says which connections have taken too long: in mid-frame, idle, without reading, or without an answer.

The pump's sweep calls `overdue` for each connection once a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kproxy.observe.reasons import Reason
from kproxy.relay.connection import Connection
from kproxy.relay.slow_requests import SlowRequests

if TYPE_CHECKING:
    from kproxy.config import Timeouts

Overdue = tuple[Reason, str]
"""Why a connection is to be closed, and a detail for the log."""


class Deadlines:
    """The timeouts of relayed connections; times are seconds on the monotonic clock."""

    def __init__(self, timeouts: Timeouts) -> None:
        self._slow = SlowRequests(timeouts.whole_request, timeouts.request_bytes_per_second)
        self._set(timeouts)

    def reconfigure(self, timeouts: Timeouts) -> None:
        """Judge by other timeouts from now on; a request that was slow until now stays so."""
        self._slow.patience, self._slow.rate = timeouts.whole_request, timeouts.request_bytes_per_second
        self._set(timeouts)

    def _set(self, timeouts: Timeouts) -> None:
        self._stalled_frame = timeouts.stalled_frame
        self._idle = timeouts.idle
        self._unread = timeouts.unread_response
        self._unanswered = timeouts.unanswered_request

    def next_sweep(self) -> None:
        """Begin a sweep over all connections."""
        self._slow.next_sweep()

    def overdue(self, connection: Connection, now: float) -> Overdue | None:
        """Return why the connection is to be closed at `now`, or None."""
        quiet = now - connection.progress
        if connection.stalled:
            return self._in_mid_frame(connection, quiet, now)
        if connection.client.blocked:
            if quiet > self._unread:
                return Reason.UNREAD_RESPONSE, f"the client took nothing for {self._unread:g} s"
            return None
        oldest = connection.in_flight.first
        if oldest is None:
            if quiet > self._idle and not connection.requests.throttled:
                return Reason.IDLE_TIMEOUT, f"no request in {self._idle:g} s"
        elif now - oldest.sent > self._unanswered and not connection.responses.under_way:
            api = oldest.route.api_key
            return Reason.UNANSWERED_REQUEST, f"no response in {self._unanswered:g} s to a request of API {api}"
        return None

    def _in_mid_frame(self, connection: Connection, quiet: float, now: float) -> Overdue | None:
        if quiet > self._stalled_frame:
            return Reason.STALLED_FRAME, f"nothing moved for {self._stalled_frame:g} s in mid-frame"
        if not connection.in_mid_request:
            return None
        if self._slow.look(connection.id, connection.requests.count, connection.received, now):
            slow = self._slow
            detail = f"a request took over {slow.patience:g} s, at less than {slow.rate} bytes a second"
            return Reason.STALLED_FRAME, detail
        return None
