# This module is pure (no I/O, no clock).
"""The errors that telemetry answers requests with; each carries Kafka's error code.

Code that checks a subscription or a push raises them; the handler of the request, or of the configuration, catches
them.
"""

from __future__ import annotations

from typing import Final

from kproxy.errors import KproxyError

_MOST: Final = 1000
"""Characters of a message."""


class TelemetryError(KproxyError):
    """An error for the client: `code` is Kafka's, `message` is for a person.

    The message may repeat what a client has sent, and is cut: a string of a response has 32,767 bytes at most.

    `reason` says in one word which quota or bound it passed, as a label of metrics; "" where the code says it all.
    """

    def __init__(self, code: int, message: str, reason: str = "") -> None:
        message = message if len(message) <= _MOST else f"{message[:_MOST]}…"
        super().__init__(message)
        self.code = code
        self.message = message
        self.reason = reason


class SubscriptionError(TelemetryError):
    """A refused subscription: 42 INVALID_REQUEST or 40 INVALID_CONFIG as in Kafka's controller; 44 POLICY_VIOLATION."""


class PayloadError(TelemetryError):
    """Pushed bytes are refused: 76, 87 or 118."""
