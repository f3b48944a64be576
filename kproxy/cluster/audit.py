# This module is pure (no I/O, no clock).
"""Counts and reports who has authenticated to kproxy, and who was refused.

`ClusterDestination` has one. Every authentication is reported; of refusals only so many a second, with the number that
was left out, for whoever guesses passwords writes the stream otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Final

from kproxy.observe.events import AuthenticationResult, bounded
from kproxy.observe.report_rate import ReportRate

if TYPE_CHECKING:
    from kproxy.protocol.context import Context

REPORTED: Final = 10
"""Refusals that are reported in a second."""
_UNKNOWN: Final = "unknown"


class Audit:
    """Of one virtual cluster; `counts` are by mechanism and outcome."""

    def __init__(
        self, counts: MutableMapping[tuple[str, str], int], report: Callable[[AuthenticationResult], None]
    ) -> None:
        self._counts = counts
        self._report = report
        self._rate = ReportRate(REPORTED)

    def accepted(self, context: Context, mechanism: str) -> None:
        """Note that a client is authenticated, as the context's principal."""
        self._count(mechanism, "accepted")
        self._report(_result(context, mechanism, None, 0))

    def refused(self, context: Context, mechanism: str, why: str, now: float) -> None:
        """Note that a client is refused; `now` is in seconds, by any clock."""
        self._count(mechanism, "refused")
        if self._rate.allows(now):
            self._report(_result(context, mechanism, why, self._rate.left_out))

    def _count(self, mechanism: str, outcome: str) -> None:
        key = mechanism or _UNKNOWN, outcome
        self._counts[key] = self._counts.get(key, 0) + 1


def _result(context: Context, mechanism: str, why: str | None, left_out: int) -> AuthenticationResult:
    return AuthenticationResult(
        address=context.host or None,
        client_id=bounded(context.client_id),
        principal=None if why is not None else context.principal,
        mechanism=mechanism or None,
        refused=bounded(why),
        left_out=left_out,
    )
