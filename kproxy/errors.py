# This module is pure.
"""What can go wrong: Kafka's error codes by their KIP-1050 class, and kproxy's own exceptions, each of one class."""

from __future__ import annotations

from enum import Enum
from typing import Final

PRODUCE: Final = 0

NONE: Final = 0
UNKNOWN_SERVER_ERROR: Final = -1
COORDINATOR_NOT_AVAILABLE: Final = 15
NOT_COORDINATOR: Final = 16
UNKNOWN_MEMBER_ID: Final = 25
UNSUPPORTED_VERSION: Final = 35
INVALID_REQUEST: Final = 42
INVALID_TXN_STATE: Final = 48
GROUP_ID_NOT_FOUND: Final = 69
REBOOTSTRAP_REQUIRED: Final = 129


class ErrorClass(Enum):
    """What a client does about an error (KIP-1050)."""

    RETRIABLE = "retriable"
    REFRESH_RETRIABLE = "refresh-retriable"
    REBOOTSTRAP = "rebootstrap"
    ABORTABLE = "abortable"
    APPLICATION_RECOVERABLE = "application-recoverable"
    INVALID_CONFIGURATION = "invalid-configuration"
    IDEMPOTENCE = "idempotence"


_CODES: Final = {
    ErrorClass.RETRIABLE: (2, 7, 14, 19, 20, 41, 51, 70, 71, 75, 78, 88, 89, 106, 122, 123, 133),
    ErrorClass.REFRESH_RETRIABLE: (3, 5, 6, 9, 13, 15, 16, 56, 72, 74, 80, 83, 84, 100, 103),
    ErrorClass.REBOOTSTRAP: (REBOOTSTRAP_REQUIRED,),
    ErrorClass.ABORTABLE: (120,),
    ErrorClass.APPLICATION_RECOVERABLE: (22, 25, 47, 49, 82, 90),
    ErrorClass.INVALID_CONFIGURATION: (17, 18, 21, 29, 30, 31, 33, 34, 35, 38, 40, 43, 53, 58, 65, 87),
    # 45 OUT_OF_ORDER_SEQUENCE and 59 UNKNOWN_PRODUCER_ID: out of the KIP's scope, their own row.
    ErrorClass.IDEMPOTENCE: (45, 59),
}
_CLASS_OF: Final = {code: error_class for error_class, codes in _CODES.items() for code in codes}


def classify(code: int, api_key: int | None = None) -> ErrorClass:
    """The KIP-1050 class of an error code; unknown codes are application-recoverable.

    48 INVALID_TXN_STATE is the only code whose class depends on the API: abortable from Produce.
    """
    if code == INVALID_TXN_STATE:
        return ErrorClass.ABORTABLE if api_key == PRODUCE else ErrorClass.APPLICATION_RECOVERABLE
    return _CLASS_OF.get(code, ErrorClass.APPLICATION_RECOVERABLE)


class KproxyError(Exception):
    """The root of kproxy's own exceptions; each has the class that tells a person what to do."""

    error_class: ErrorClass = ErrorClass.APPLICATION_RECOVERABLE


class MalformedMessageError(KproxyError):
    """Bytes that are not the Kafka message they should be; `kproxy.wire` raises no other exception for any input."""


class UnsupportedApiError(KproxyError):
    """An api key or a version that kproxy does not serve."""

    error_class = ErrorClass.INVALID_CONFIGURATION


class ConfigError(KproxyError):
    """A setting that cannot be used: its key (dotted path) and the reason, fit for one line."""

    error_class = ErrorClass.INVALID_CONFIGURATION

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"{key}: {reason}")
        self.key = key
        self.reason = reason


class UpstreamError(KproxyError):
    """A broker that cannot be reached, does not answer in time, or answers what is not Kafka."""

    error_class = ErrorClass.RETRIABLE


class CommandError(KproxyError):
    """A request to the running proxy that is not carried out; `str()` gives the reason in one line.

    Nothing has changed, unless the subclass says so. The admin port maps each subclass to an HTTP status.
    """


class InvalidArgumentError(CommandError):
    """An argument is invalid, e.g. a malformed regex or an interval out of bounds (400)."""


class NotFoundError(CommandError):
    """The request names something that does not exist (404)."""


class ConflictError(CommandError):
    """The present state does not permit the request (409)."""


class RetryLaterError(CommandError):
    """The request comes too soon; it may be repeated after `seconds` (429)."""

    def __init__(self, reason: str, seconds: float) -> None:
        super().__init__(reason)
        self.seconds = seconds


class NotPersistedError(CommandError):
    """The request was carried out but could not be stored: a restart undoes it (500)."""
