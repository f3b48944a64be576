# This module is pure (no I/O, no clock).
"""Errors of transactional and idempotent producers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kproxy.explained.text import AGAIN, NOT_A_CLIENTS, Text
from kproxy.wire.generated.error_codes import ErrorCode

TEXTS: Final[Mapping[ErrorCode, Text]] = MappingProxyType(
    {
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER: Text(
            "A batch does not follow on the last one that the broker has of this producer: one in between is missing.",
            "Look for records that were lost; make the producer anew where it does not go on.",
            client="Read in their sources: an idempotent Java 4.1 producer raises its epoch and sends the batch again; "
            "librdkafka 2.15 fails for good where the oldest batch in flight gets it, and else does as Java.",
            kip=98,
        ),
        ErrorCode.DUPLICATE_SEQUENCE_NUMBER: Text(
            "The broker has written a batch with these sequence numbers before, too long ago to know its offset.",
            "Nothing: the records are in the log.",
            client="Java's producer takes it for a success without an offset (read in its source).",
            kip=98,
        ),
        ErrorCode.INVALID_PRODUCER_EPOCH: Text(
            "A producer with the same id has gone on with a later epoch.",
            "Make the producer anew; where that happens again, look for two producers with one transactional id.",
            client="Java 4.1's transactional producer takes it for fatal from the transaction APIs.",
            kip=98,
        ),
        ErrorCode.INVALID_TXN_STATE: Text(
            "The transaction is not in a state in which this can be done.",
            "In a Produce response abort the transaction and begin again; otherwise make the producer anew.",
            client="It is the only code whose class depends on the API: abortable from Produce.",
            kip=98,
        ),
        ErrorCode.INVALID_PRODUCER_ID_MAPPING: Text(
            "The transactional id does not have this producer id, or has expired.",
            "Make the producer anew, and do again what its transaction had done.",
            client="Measured at a failover: Java 3.9 and 4.3 need a new producer, confluent-kafka 2.11 and 2.16 only "
            "an abort (docs/topology.md has eight clients).",
            kip=98,
        ),
        ErrorCode.INVALID_TRANSACTION_TIMEOUT: Text(
            "The producer asks for a longer transaction than the broker allows.",
            "Lower transaction.timeout.ms, or raise transaction.max.timeout.ms at the brokers.",
            kip=98,
        ),
        ErrorCode.CONCURRENT_TRANSACTIONS: Text(
            "The producer's last transaction is still being completed.",
            AGAIN,
            kip=98,
        ),
        ErrorCode.TRANSACTION_COORDINATOR_FENCED: Text(
            "The coordinator that writes the end of a transaction is not the coordinator any more.",
            NOT_A_CLIENTS,
        ),
        ErrorCode.UNKNOWN_PRODUCER_ID: Text(
            "The broker has nothing left of this producer, e.g. since its records were deleted.",
            "Nothing where the client goes on by itself; otherwise make the producer anew.",
            client="Read in their sources: an idempotent Java 4.1 producer raises its epoch and sends the batch again; "
            "librdkafka 2.15 does so unless the batch was sent before, and else fails for good.",
        ),
        ErrorCode.UNSTABLE_OFFSET_COMMIT: Text(
            "A transaction is about to commit offsets of the partition, so the present ones may soon be out of date.",
            AGAIN,
            kip=447,
        ),
        ErrorCode.PRODUCER_FENCED: Text(
            "A newer producer with the same transactional id has taken this one's place.",
            "Close this producer; give each producer a transactional id of its own.",
            client="Java 4.1's transactional producer takes it for fatal.",
            kip=588,
        ),
        ErrorCode.TRANSACTIONAL_ID_NOT_FOUND: Text(
            "The coordinator has no transaction of this transactional id.",
            "Check the id.",
            kip=664,
        ),
        ErrorCode.TRANSACTION_ABORTABLE: Text(
            "The transaction cannot be committed, but its producer is well.",
            "Abort the transaction, and begin again with the same producer.",
            client="Applications written before the code was known take it for fatal (KIP-1050).",
            kip=890,
        ),
    }
)
