# This module is pure (no I/O, no clock).
"""The exception that ends a connection: a reason for the counters, a detail for the log, never a payload.

Flows, policies and the acceptor raise it. The pump then closes the connection; while a client is still being admitted,
the acceptor closes its socket.
"""

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


class RequestFault(Fault):
    """A request is at fault, or bytes that are to be one. The requests before it are relayed and answered first.

    Brokers take one request after the other: a client has their answers before the connection ends.
    """
