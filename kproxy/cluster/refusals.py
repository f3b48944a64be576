# This module is pure (no I/O, no clock).
"""Reports the clients that are not let in: of each reason only so many a second, with the number that was left out.

`ClusterDestination` has one. A flood of connections that a limit keeps out would fill the stream otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kproxy.observe.events import AdmissionRefused, bounded
from kproxy.observe.reasons import Reason
from kproxy.observe.report_rate import ReportRate

if TYPE_CHECKING:
    from kproxy.protocol.context import Context

REPORTED: Final = 10
"""Refusals of one reason that are reported in a second."""
_NO_REFUSALS: Final = frozenset(
    {
        *(Reason.CLIENT_CLOSED, Reason.CLIENT_RESET, Reason.IDLE_TIMEOUT),  # as health checks do
        *(Reason.DRAINED, Reason.SHUTDOWN, Reason.REBOOTSTRAP, Reason.RETIRED_NODE),  # it is to connect again
        Reason.AUTHENTICATION_FAILED,  # an event of its own: `AuthenticationResult`
    }
)


class Refusals:
    """Of one virtual cluster."""

    def __init__(self, report: Callable[[AdmissionRefused], None]) -> None:
        self._report = report
        self._rates: dict[Reason, ReportRate] = {}

    def ended(self, context: Context, reason: Reason, detail: str, now: float) -> None:
        """Note that a connection ended before it was relayed; `now` is in seconds, by any clock."""
        if reason in _NO_REFUSALS:
            return
        rate = self._rates.setdefault(reason, ReportRate(REPORTED))
        if rate.allows(now):
            self._report(_event(context, reason, detail, rate.left_out))


def _event(context: Context, reason: Reason, detail: str, left_out: int) -> AdmissionRefused:
    return AdmissionRefused(
        address=context.host or None,
        node=context.node_id,
        client_id=bounded(context.client_id),
        reason=str(reason),
        detail=bounded(detail or None),
        left_out=left_out,
    )
