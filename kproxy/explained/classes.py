# This module is pure (no I/O, no clock).
"""What a client library does about an error of each class (KIP-1050). `errors` asks it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kproxy.errors import ErrorClass
from kproxy.wire.generated.error_codes import ErrorCode

CLIENT: Final[Mapping[ErrorClass, str]] = MappingProxyType(
    {
        ErrorClass.RETRIABLE: (
            "It sends the request again after a backoff, without a word to the application, "
            "until the time for the call is up."
        ),
        ErrorClass.REFRESH_RETRIABLE: (
            "It asks for fresh metadata, or for the coordinator, and then sends the request again, "
            "without a word to the application, until the time for the call is up."
        ),
        ErrorClass.REBOOTSTRAP: "It forgets the brokers that it knows, and asks its bootstrap servers again.",
        ErrorClass.ABORTABLE: (
            "It tells the application, which aborts the transaction and goes on with the same producer."
        ),
        ErrorClass.APPLICATION_RECOVERABLE: (
            "A producer tells the application, which closes it, makes a new one, and goes on from what it knows to be "
            "committed."
        ),
        ErrorClass.INVALID_CONFIGURATION: (
            "It tells the application, and does not try again by itself: somebody must change a setting, a permission "
            "or the request."
        ),
        ErrorClass.IDEMPOTENCE: "KIP-1050 leaves it open: each library has its own way to go on, or none.",
    }
)
UNNAMED: Final = (
    "KIP-1050 does not name this code. So by its rule the application is told, and makes the client anew, wherever a "
    "library knows no better."
)
"""For codes that are application-recoverable only because the KIP says nothing of them."""
NAMED: Final = frozenset(
    {
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.PRODUCER_FENCED,
    }
)
"""The codes that the KIP itself calls application-recoverable."""


def client_does(code: int, error_class: ErrorClass) -> str:
    """Return what a library does about a code of a class."""
    if error_class is ErrorClass.APPLICATION_RECOVERABLE and code not in NAMED:
        return UNNAMED
    return CLIENT[error_class]
