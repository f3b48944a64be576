# This module is pure (no I/O, no clock).
"""Errors of reading and writing records: batches, offsets, fetch sessions, disks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kproxy.explained.text import AGAIN, NOT_A_CLIENTS, Text
from kproxy.wire.generated.error_codes import ErrorCode

TEXTS: Final[Mapping[ErrorCode, Text]] = MappingProxyType(
    {
        ErrorCode.OFFSET_OUT_OF_RANGE: Text(
            "The partition has no record at this offset: it was deleted, or was never there.",
            "Check that records are kept for longer than consumers are behind, and that offsets are of this cluster.",
            client="A consumer goes on where auto.offset.reset says, and tells the application where that is none.",
        ),
        ErrorCode.CORRUPT_MESSAGE: Text(
            "A batch does not have the checksum that it names, or is damaged otherwise.",
            "If it lasts, look for faulty memory, disk or network.",
        ),
        ErrorCode.INVALID_FETCH_SIZE: Text(
            "The Fetch request asks for an impossible number of bytes.",
            "Correct the client's fetch sizes.",
        ),
        ErrorCode.MESSAGE_TOO_LARGE: Text(
            "A batch has more bytes than the topic or the broker allows.",
            "Make records or batches smaller, or raise max.message.bytes of the topic and what consumers fetch.",
            client="Java's producer splits a batch of several records, and sends the parts (read in its source).",
        ),
        ErrorCode.RECORD_LIST_TOO_LARGE: Text(
            "A batch has more bytes than a segment of the log may have.",
            "Make batches smaller than segment.bytes of the topic, or raise that.",
        ),
        ErrorCode.NOT_ENOUGH_REPLICAS: Text(
            "Fewer replicas are in sync than min.insync.replicas asks for, so nothing was written.",
            "If it lasts, bring back the brokers whose replicas are missing.",
        ),
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: Text(
            "The leader has written the records, and then too few replicas were in sync.",
            "If it lasts, bring back the brokers whose replicas are missing; without idempotence expect duplicates.",
        ),
        ErrorCode.INVALID_REQUIRED_ACKS: Text(
            "The producer asks for acknowledgements that do not exist.",
            "Set acks to 0, 1 or all.",
        ),
        ErrorCode.INVALID_TIMESTAMP: Text(
            "A record's time is further from the broker's than the topic allows.",
            "Correct the clock or the timestamps of the producer, or the topic's limits of timestamps.",
            kip=32,
        ),
        ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT: Text(
            "The topic's records are in a format that is too old for what is asked.",
            "Raise the topic's message format, or do without the feature.",
        ),
        ErrorCode.KAFKA_STORAGE_ERROR: Text(
            "The broker cannot read or write the partition's files.",
            "Look at the broker's disk and log.",
            kproxy="When a changed subscription of client telemetry is in effect, but could not be kept for a restart.",
            kip=112,
        ),
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND: Text(
            "The broker does not know the consumer's fetch session, e.g. since it made room for another.",
            AGAIN,
            kip=227,
        ),
        ErrorCode.INVALID_FETCH_SESSION_EPOCH: Text(
            "The consumer and the broker do not agree on which fetch of their session this is.",
            AGAIN,
            kip=227,
        ),
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR: Text(
            "A fetch session mixes topics by name with topics by id.",
            AGAIN,
            kip=516,
        ),
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE: Text(
            "The records are compressed in a way that this version of the request does not know.",
            "Use a newer client, or another compression for the topic.",
            client="In answer to telemetry, Java's client asks for its subscription at once (read in its source).",
            kproxy="For a push of client telemetry that is compressed otherwise than kproxy has said it may be.",
            kip=110,
        ),
        ErrorCode.OFFSET_NOT_AVAILABLE: Text(
            "A new leader does not know yet which offsets are safe to name.",
            AGAIN,
            kip=207,
        ),
        ErrorCode.INVALID_RECORD: Text(
            "The broker has checked a record and does not accept it.",
            "Correct the record that the error message names, e.g. give it a key where the topic is compacted.",
            client="In answer to telemetry, Java's client sends no more of it (read in its source).",
            kproxy="For a push of client telemetry that cannot be decompressed, or is not OTLP.",
            kip=467,
        ),
        ErrorCode.OFFSET_MOVED_TO_TIERED_STORAGE: Text(
            "The leader has the records of this offset in remote storage only.",
            NOT_A_CLIENTS,
            kip=405,
        ),
    }
)
