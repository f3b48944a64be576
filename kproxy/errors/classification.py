# This module is pure (no I/O, no clock).
"""The KIP-1050 class of an error that an application has got from its client library.

It knows the libraries' errors by what they have, and imports none of the libraries: `txn_requires_abort()` is
confluent-kafka's, `errno`, `retriable` and `invalid_metadata` are kafka-python's and aiokafka's.
"""

from __future__ import annotations

from typing import Any, Final

from kproxy.errors.kip_1050 import ErrorClass, of_code
from kproxy.errors.libraries import EXCEPTIONS, LIBRDKAFKA, PARTITION_EOF

_FOR_PRODUCE: Final = (0, "Produce", "produce")
"""What an application may call the API."""


def classify(error: object, api: int | str | None = None) -> ErrorClass | None:
    """Return what the application should do about an error; None where there is none: None, 0, the end of a partition.

    `error` is a code, Kafka's or librdkafka's, or an error of confluent-kafka, kafka-python or aiokafka. `api` is the
    API that answered, by name or key; only for 48 INVALID_TXN_STATE it matters, which is abortable from Produce. Any
    other exception is application-recoverable, by the KIP's rule. Raises TypeError for what is no error.
    """
    if error is None:
        return None
    from_produce = api in _FOR_PRODUCE
    if isinstance(error, int):
        return _of_code(error, from_produce)
    told = _librdkafkas(error)
    if told is not None:
        return _of_librdkafkas(told, from_produce)
    if isinstance(error, BaseException):
        return _of_exception(error, from_produce)
    raise TypeError(f"{type(error).__name__} is neither an error code nor an error of a Kafka client")


def _of_code(code: int, from_produce: bool) -> ErrorClass | None:
    if code in (0, PARTITION_EOF):
        return None
    return LIBRDKAFKA.get(code) or of_code(code, from_produce=from_produce)


def _librdkafkas(error: object) -> Any:
    """Return the `KafkaError` of confluent-kafka that an error is, or that a `KafkaException` was made with."""
    made_with = error.args[:1] if isinstance(error, BaseException) else ()
    return next((one for one in (error, *made_with) if callable(getattr(one, "txn_requires_abort", None))), None)


def _of_librdkafkas(error: Any, from_produce: bool) -> ErrorClass | None:
    """Return the class of a `KafkaError`: librdkafka knows the state that it was got in, so its word comes first."""
    found = _of_code(error.code(), from_produce)
    if found is None:
        return None
    if error.txn_requires_abort():
        return ErrorClass.ABORTABLE
    if error.fatal():  # this client cannot go on; a new one can, unless somebody must change something first
        return found if found is ErrorClass.INVALID_CONFIGURATION else ErrorClass.APPLICATION_RECOVERABLE
    if error.retriable() and found is ErrorClass.APPLICATION_RECOVERABLE:
        return ErrorClass.RETRIABLE
    return found


def _of_exception(error: BaseException, from_produce: bool) -> ErrorClass | None:
    """Return the class of an exception of kafka-python or aiokafka, or of any other one."""
    code = getattr(error, "errno", None)
    if isinstance(code, int) and not isinstance(error, OSError):  # that of an OSError is the system's
        return _of_code(code, from_produce)
    for one in type(error).__mro__:
        if one.__name__ in EXCEPTIONS:
            return EXCEPTIONS[one.__name__]
    if getattr(error, "invalid_metadata", False):
        return ErrorClass.REFRESH_RETRIABLE
    return ErrorClass.RETRIABLE if getattr(error, "retriable", False) else ErrorClass.APPLICATION_RECOVERABLE
