# This module is pure (no I/O, no clock).
"""The errors that brokers answer to kproxy's own requests: an exception for each thing to do about them (KIP-1050).

`kproxy.upstream.responses` makes them of error codes, and whoever asks a broker obeys their class.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kproxy.errors.exceptions import UpstreamError
from kproxy.errors.kip_1050 import ErrorClass


class RefusedError(UpstreamError):
    """A broker answered with an error code."""

    def __init__(self, api: str, code: int, name: str, *, asked: str = "", said: str = "") -> None:
        """`name` is Kafka's of the `code`; `asked` is what was asked about, `said` what the broker says of it."""
        about, why = f"{asked}: " if asked else "", f"; {said}" if said else ""
        super().__init__(f"{about}the broker answers {api} with {name}{why}")
        self.api = api
        self.code = code
        self.name = name
        self.asked = asked


class RetriableError(RefusedError):
    """The same request may succeed after a pause."""


class RefreshRetriableError(RetriableError):
    """The same request may succeed once metadata, or the coordinator, are looked up again."""


class TransactionAbortableError(RefusedError):
    """The transaction must be aborted; kproxy has none, so it gives up."""


class ApplicationRecoverableError(RefusedError):
    """The request will not succeed; who has asked for it must begin anew. Unknown codes are of this class, too."""


class InvalidConfigurationError(RefusedError):
    """The request will not succeed before somebody changes a setting or a permission."""


OF_CLASS: Final[Mapping[ErrorClass, type[RefusedError]]] = MappingProxyType(
    {
        ErrorClass.RETRIABLE: RetriableError,
        ErrorClass.REFRESH_RETRIABLE: RefreshRetriableError,
        ErrorClass.REBOOTSTRAP: RefreshRetriableError,  # kproxy's look-ups ask its bootstrap servers first
        ErrorClass.ABORTABLE: TransactionAbortableError,
        ErrorClass.APPLICATION_RECOVERABLE: ApplicationRecoverableError,
        ErrorClass.INVALID_CONFIGURATION: InvalidConfigurationError,
        ErrorClass.IDEMPOTENCE: ApplicationRecoverableError,  # kproxy's own producer is not idempotent
    }
)
"""The exception of each class."""
