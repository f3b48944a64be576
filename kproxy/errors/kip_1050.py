# This module is pure (no I/O, no clock).
"""The KIP-1050 class of each error code in the KIP's tables.

`classification` asks it for applications, `kproxy.wire.error_codes` for the proxy, and `codegen` for each error code
that it generates. The kafka-clients jar does not have the classes: its exceptions have a hierarchy of their own.
"""

from __future__ import annotations

from enum import Enum
from typing import Final


class ErrorClass(Enum):
    """What a client does about an error (KIP-1050)."""

    RETRIABLE = "retriable"
    REFRESH_RETRIABLE = "refresh-retriable"
    REBOOTSTRAP = "rebootstrap"
    ABORTABLE = "abortable"
    APPLICATION_RECOVERABLE = "application-recoverable"
    INVALID_CONFIGURATION = "invalid-configuration"
    IDEMPOTENCE = "idempotence"


NAMED: Final = {
    ErrorClass.RETRIABLE: """
        2 CORRUPT_MESSAGE  7 REQUEST_TIMED_OUT  14 COORDINATOR_LOAD_IN_PROGRESS  19 NOT_ENOUGH_REPLICAS
        20 NOT_ENOUGH_REPLICAS_AFTER_APPEND  41 NOT_CONTROLLER  51 CONCURRENT_TRANSACTIONS
        70 FETCH_SESSION_ID_NOT_FOUND  71 INVALID_FETCH_SESSION_EPOCH  75 UNKNOWN_LEADER_EPOCH
        78 OFFSET_NOT_AVAILABLE  88 UNSTABLE_OFFSET_COMMIT  89 THROTTLING_QUOTA_EXCEEDED
        106 FETCH_SESSION_TOPIC_ID_ERROR  122 SHARE_SESSION_NOT_FOUND  123 INVALID_SHARE_SESSION_EPOCH
        133 SHARE_SESSION_LIMIT_REACHED
    """,
    ErrorClass.REFRESH_RETRIABLE: """
        3 UNKNOWN_TOPIC_OR_PARTITION  5 LEADER_NOT_AVAILABLE  6 NOT_LEADER_OR_FOLLOWER  9 REPLICA_NOT_AVAILABLE
        13 NETWORK_EXCEPTION  15 COORDINATOR_NOT_AVAILABLE  16 NOT_COORDINATOR  56 KAFKA_STORAGE_ERROR
        72 LISTENER_NOT_FOUND  74 FENCED_LEADER_EPOCH  80 PREFERRED_LEADER_NOT_AVAILABLE
        83 ELIGIBLE_LEADERS_NOT_AVAILABLE  84 ELECTION_NOT_NEEDED  100 UNKNOWN_TOPIC_ID  103 INCONSISTENT_TOPIC_ID
    """,
    ErrorClass.REBOOTSTRAP: "129 REBOOTSTRAP_REQUIRED",
    ErrorClass.ABORTABLE: "120 TRANSACTION_ABORTABLE",
    ErrorClass.INVALID_CONFIGURATION: """
        17 INVALID_TOPIC_EXCEPTION  18 RECORD_LIST_TOO_LARGE  21 INVALID_REQUIRED_ACKS  29 TOPIC_AUTHORIZATION_FAILED
        30 GROUP_AUTHORIZATION_FAILED  31 CLUSTER_AUTHORIZATION_FAILED  33 UNSUPPORTED_SASL_MECHANISM
        34 ILLEGAL_SASL_STATE  35 UNSUPPORTED_VERSION  38 INVALID_REPLICATION_FACTOR  40 INVALID_CONFIG
        43 UNSUPPORTED_FOR_MESSAGE_FORMAT  53 TRANSACTIONAL_ID_AUTHORIZATION_FAILED  58 SASL_AUTHENTICATION_FAILED
        65 DELEGATION_TOKEN_AUTHORIZATION_FAILED  87 INVALID_RECORD
    """,
    # Outside of the KIP's scope; they have a row of their own there.
    ErrorClass.IDEMPOTENCE: "45 OUT_OF_ORDER_SEQUENCE_NUMBER  59 UNKNOWN_PRODUCER_ID",
}
"""Codes with Kafka's names; all others are application-recoverable, as in the KIP."""
_OF: Final = {int(word): of for of, text in NAMED.items() for word in text.split() if word.isdigit()}
_BY_API: Final = 48
"""INVALID_TXN_STATE, the only code with a class that depends on the API."""


def of_code(code: int, *, from_produce: bool = False) -> ErrorClass:
    """Return the class of a code; INVALID_TXN_STATE is abortable from Produce."""
    if code == _BY_API and from_produce:
        return ErrorClass.ABORTABLE
    return _OF.get(code, ErrorClass.APPLICATION_RECOVERABLE)
