# This module is pure (no I/O, no clock).
"""The classes of Kafka's errors (KIP-1050), for the proxy and for applications, and kproxy's own exceptions.

An application may import it alone: `classify` tells the class of an error of a client library, and nothing of the
running proxy comes with it.
"""

from __future__ import annotations

from kproxy.errors.classification import classify
from kproxy.errors.exceptions import (
    BackendError,
    CommandError,
    ConfigError,
    ConflictError,
    IdentityError,
    InvalidArgumentError,
    KproxyError,
    MalformedMessageError,
    NotFoundError,
    NotPersistedError,
    RetryLaterError,
    ShortageError,
    UnsupportedApiError,
    UpstreamError,
    bare_reason,
)
from kproxy.errors.kip_1050 import ErrorClass
from kproxy.errors.refused import (
    ApplicationRecoverableError,
    InvalidConfigurationError,
    RefreshRetriableError,
    RefusedError,
    RetriableError,
    TransactionAbortableError,
)

__all__ = [
    "ApplicationRecoverableError",
    "BackendError",
    "CommandError",
    "ConfigError",
    "ConflictError",
    "ErrorClass",
    "IdentityError",
    "InvalidArgumentError",
    "InvalidConfigurationError",
    "KproxyError",
    "MalformedMessageError",
    "NotFoundError",
    "NotPersistedError",
    "RefreshRetriableError",
    "RefusedError",
    "RetriableError",
    "RetryLaterError",
    "ShortageError",
    "TransactionAbortableError",
    "UnsupportedApiError",
    "UpstreamError",
    "bare_reason",
    "classify",
]
