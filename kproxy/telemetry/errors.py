# This module is pure.
"""What telemetry answers when it does not answer as asked: Kafka's error codes, and an exception that carries one."""

from __future__ import annotations

from typing import Final

from kproxy.errors import KproxyError, classify

NETWORK_EXCEPTION: Final = 13
CLUSTER_AUTHORIZATION_FAILED: Final = 31
INVALID_CONFIG: Final = 40
POLICY_VIOLATION: Final = 44
KAFKA_STORAGE_ERROR: Final = 56
UNSUPPORTED_COMPRESSION_TYPE: Final = 76
INVALID_RECORD: Final = 87
THROTTLING_QUOTA_EXCEEDED: Final = 89
UNKNOWN_SUBSCRIPTION_ID: Final = 117
TELEMETRY_TOO_LARGE: Final = 118


class TelemetryError(KproxyError):
    """An error for the client: `code` is Kafka's, `message` is for a person."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.error_class = classify(code)


class SubscriptionError(TelemetryError):
    """A subscription that cannot be: 42 INVALID_REQUEST or 40 INVALID_CONFIG, as Kafka's controller answers."""


class PayloadError(TelemetryError):
    """Pushed bytes that cannot be taken: 76, 87 or 118."""
