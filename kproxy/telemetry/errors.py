# This module is pure.
"""What telemetry answers when it does not answer as asked: Kafka's error codes, and an exception that carries one."""

from __future__ import annotations

from kproxy.errors import KproxyError


class TelemetryError(KproxyError):
    """An error for the client: `code` is Kafka's, `message` is for a person."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class SubscriptionError(TelemetryError):
    """A subscription that cannot be: 42 INVALID_REQUEST or 40 INVALID_CONFIG, as Kafka's controller answers."""


class PayloadError(TelemetryError):
    """Pushed bytes that cannot be taken: 76, 87 or 118."""
