# This module is pure (no I/O, no clock).
"""Names and classes of the error codes on the wire, also for codes that this version does not know.

It is called at a scrape of /metrics, by the admin port, and by kproxy.delivery for the answers to its own requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kproxy.errors import ErrorClass
from kproxy.errors.kip_1050 import of_code
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode

ERROR_CODES: Final[Mapping[int, ErrorCode]] = MappingProxyType({error.value: error for error in ErrorCode})


def error_name(code: int) -> str:
    """Return Kafka's name of an error code; the number of an unknown one."""
    error = ERROR_CODES.get(code)
    return str(code) if error is None else error.name


def classify(code: int, api_key: int | None = None) -> ErrorClass:
    """Return the KIP-1050 class of an error code in the answer of an API; unknown codes are application-recoverable.

    Unlike `kproxy.errors.classify`, it takes no client library's codes: a broker that sent one would mean another.
    """
    return of_code(code, from_produce=api_key == ApiKey.PRODUCE)
