# This module is pure (no I/O, no clock).
"""Errors of client libraries' own, which no broker sends, each with the class of Kafka's code that means the same.

`classification` looks errors up here. What is in no table is application-recoverable, by KIP-1050's rule: librdkafka's
_STATE and _FENCED, for instance.
"""

from __future__ import annotations

from typing import Final

from kproxy.errors.kip_1050 import ErrorClass

PARTITION_EOF: Final = -191
"""librdkafka tells by it that a consumer has read all there is; it is no error."""
LIBRDKAFKA: Final = {
    -199: ErrorClass.RETRIABLE,  # _BAD_MSG, as 2 CORRUPT_MESSAGE
    -195: ErrorClass.REFRESH_RETRIABLE,  # _TRANSPORT, as 13 NETWORK_EXCEPTION
    -193: ErrorClass.REFRESH_RETRIABLE,  # _RESOLVE, as 13: librdkafka tries again
    -192: ErrorClass.RETRIABLE,  # _MSG_TIMED_OUT, as 7 REQUEST_TIMED_OUT
    -190: ErrorClass.REFRESH_RETRIABLE,  # _UNKNOWN_PARTITION, as 3 UNKNOWN_TOPIC_OR_PARTITION
    -188: ErrorClass.REFRESH_RETRIABLE,  # _UNKNOWN_TOPIC, as 3
    -187: ErrorClass.REFRESH_RETRIABLE,  # _ALL_BROKERS_DOWN, as 13
    -186: ErrorClass.INVALID_CONFIGURATION,  # _INVALID_ARG, as 40 INVALID_CONFIG
    -185: ErrorClass.RETRIABLE,  # _TIMED_OUT, as 7
    -184: ErrorClass.RETRIABLE,  # _QUEUE_FULL: there is room after a poll, as after 89 THROTTLING_QUOTA_EXCEEDED
    -183: ErrorClass.RETRIABLE,  # _ISR_INSUFF, as 19 NOT_ENOUGH_REPLICAS
    -181: ErrorClass.INVALID_CONFIGURATION,  # _SSL, as 58 SASL_AUTHENTICATION_FAILED
    -180: ErrorClass.REFRESH_RETRIABLE,  # _WAIT_COORD, as 15 COORDINATOR_NOT_AVAILABLE
    -169: ErrorClass.INVALID_CONFIGURATION,  # _AUTHENTICATION, as 58
    -166: ErrorClass.RETRIABLE,  # _TIMED_OUT_QUEUE, as 7
    -165: ErrorClass.INVALID_CONFIGURATION,  # _UNSUPPORTED_FEATURE, as 35 UNSUPPORTED_VERSION
    -164: ErrorClass.REFRESH_RETRIABLE,  # _WAIT_CACHE: metadata are on their way, as 5 LEADER_NOT_AVAILABLE
    -153: ErrorClass.RETRIABLE,  # _RETRY
    -145: ErrorClass.INVALID_CONFIGURATION,  # _NOT_CONFIGURED, as 40
}
"""librdkafka's own codes, which no broker sends."""
EXCEPTIONS: Final = {
    "AuthenticationFailedError": ErrorClass.INVALID_CONFIGURATION,
    "AuthenticationMethodNotSupported": ErrorClass.INVALID_CONFIGURATION,
    "AuthorizationError": ErrorClass.INVALID_CONFIGURATION,
    "IncompatibleBrokerVersion": ErrorClass.INVALID_CONFIGURATION,
    "KafkaConfigurationError": ErrorClass.INVALID_CONFIGURATION,
    "KafkaTimeoutError": ErrorClass.RETRIABLE,  # also where aiokafka's says that it is not, as Java's TimeoutException
    "MetadataEmptyBrokerList": ErrorClass.REFRESH_RETRIABLE,
    "NoBrokersAvailable": ErrorClass.REFRESH_RETRIABLE,
    "NodeNotReadyError": ErrorClass.REFRESH_RETRIABLE,
    "UnrecognizedBrokerVersion": ErrorClass.INVALID_CONFIGURATION,
    "UnsupportedCodecError": ErrorClass.INVALID_CONFIGURATION,
}
"""Exceptions of kafka-python and aiokafka that have no code, by the name of their class."""
