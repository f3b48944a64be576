# This module is pure (no I/O, no clock).
"""Reports the errors that clients get from brokers, where somebody listens: only so many a second.

`ClusterDestination` has one. The relay asks it about each error code that it counts. Errors that a client library
retries by itself are not reported: a leader that moves would fill the stream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kproxy.cluster.reported_client import reported_client
from kproxy.errors import ErrorClass
from kproxy.observe.events import ErrorAnswered, bounded, iso
from kproxy.observe.report_rate import ReportRate
from kproxy.wire.apis import APIS
from kproxy.wire.error_codes import classify, error_name

if TYPE_CHECKING:
    from kproxy.protocol.context import Context

REPORTED: Final = 10
"""Errors that are reported in a second."""
MAX_KINDS: Final = 1000
"""The most kinds of errors of which it is known how many were left out; Kafka's APIs have a few for each."""
_RETRIED: Final = frozenset({ErrorClass.RETRIABLE, ErrorClass.REFRESH_RETRIABLE})


class ErrorReports:
    """Of one virtual cluster. An error's kind is the API and the code."""

    def __init__(self, listens: Callable[[], bool], report: Callable[[ErrorAnswered], None]) -> None:
        """`listens` tells whether events have a destination."""
        self._listens = listens
        self._report = report
        self._rate = ReportRate(REPORTED)
        self._left_out: dict[tuple[int, int], int] = {}

    def wants(self, api_key: int, code: int, now: float) -> bool:
        """Return True for an error to be passed to `answered`; `now` is in seconds, by any clock."""
        if not self._listens() or classify(code, api_key) in _RETRIED:
            return False
        if self._rate.allows(now):
            return True
        self._leave_out((api_key, code))
        return False

    def answered(
        self, context: Context, api_key: int, version: int, code: int, topic: str | None, group: str | None
    ) -> None:
        """Report an error that a client gets, about a topic and a group where these are known."""
        self._report(
            ErrorAnswered(
                **reported_client(context),
                since=iso(context.opened),
                api=APIS[api_key].name,
                api_version=version,
                error_code=code,
                error=error_name(code),
                error_class=classify(code, api_key).value,
                topic=bounded(topic),
                group=bounded(group),
                left_out=self._left_out.pop((api_key, code), 0),
            )
        )

    def _leave_out(self, kind: tuple[int, int]) -> None:
        if kind in self._left_out or len(self._left_out) < MAX_KINDS:
            self._left_out[kind] = self._left_out.get(kind, 0) + 1
