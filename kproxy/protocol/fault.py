# This module is pure (no I/O, no clock).
"""The exception that ends a connection: a reason for the counters, a detail for the log, never a payload."""

from __future__ import annotations

from kproxy.errors import KproxyError
from kproxy.observe.reasons import Reason


class Fault(KproxyError):
    """A peer broke the protocol or asked for what kproxy does not serve. Only its connection is closed."""

    def __init__(self, reason: Reason, detail: str, api_key: int | None = None) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.api_key = api_key
