# This module is pure (no I/O, no clock).
"""Removes leader epochs and topic ids from Metadata responses, for clients that do not accept another cluster's.

`metadata` calls `forget` for each response, from v7 on, that must not show them to its client.

A client that keeps the highest epoch it has seen of each partition takes a leader with a lower one for outdated. After
a switch to another cluster with nodes of the same ids it would do so for ever. So `forget` writes -1: a leader without
an epoch, as brokers before Kafka 2.1 name all leaders. Every client takes it, and any epoch after it. With -1 a client
fetches without `current_leader_epoch` and does not look for truncated logs (KIP-320).

The `CurrentLeader` of Produce and Fetch (KIP-951) stays as it is: a broker sends it in place of an answer when it is
not the leader. A client that has seen -1 in Metadata takes that epoch, which is the present cluster's.

A client that takes a topic with another id for another topic gets no ids either, from its first Metadata on: zeros, as
from brokers before Kafka 2.8, so that it asks for everything by name. Such a client must never see an epoch: after one,
it would take -1 for a partition without a leader. So kproxy.rebootstrap.policies also leaves out the new leaders that a
Produce response names.

10,000 partitions of three replicas: 7 ms; with the ids of 10,000 topics: 20 ms, of which the ids take 0.5 ms.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from kproxy.protocol.reading import behind
from kproxy.rebootstrap.topics import PARTITION_HEAD, behind_partition
from kproxy.wire.primitives import INT16, INT32, int16_at, int32_at
from kproxy.wire.walk import not_at_end, skip_tags, uvarint_at

FIRST_LEADER_EPOCH: Final = 7
"""The first version of Metadata that has leader epochs (KIP-320)."""
_UNKNOWN: Final = -1
_FIRST_OPERATIONS: Final = 8
_FIRST_FLEXIBLE: Final = 9
_FIRST_TOPIC_ID: Final = 10
_ERROR_CODE, _EPOCH, _IS_INTERNAL, _TOPIC_ID, _CONTROLLER_ID, _OPERATIONS, _NODE_ID = 2, 4, 1, 16, 4, 4, 4
_put: Final = INT32.pack_into
_put_no_id: Final = Struct(f"{_TOPIC_ID}x").pack_into


def forget(response: bytearray, pos: int, version: int, *, topic_ids: bool = False) -> None:
    """Replace every epoch by -1, and with `topic_ids` every id by zeros, in a response of version 7 to 13.

    `pos` is behind its brokers.

    Raises IndexError, `struct.error` or `MalformedMessageError` where it does not end as its fields say.
    """
    if version < _FIRST_FLEXIBLE:
        end = _forget_plain(response, pos, version)
    else:
        has_ids = version >= _FIRST_TOPIC_ID
        end = _forget_flexible(response, pos, _TOPIC_ID if has_ids else 0, topic_ids and has_ids)
    if end > len(response):
        raise not_at_end()


def _forget_flexible(response: bytearray, pos: int, id_bytes: int, topic_ids: bool) -> int:
    topics, pos = uvarint_at(response, behind(response, pos) + _CONTROLLER_ID)
    for _ in range(topics - 1):
        pos = behind(response, pos + _ERROR_CODE)
        if topic_ids:
            _put_no_id(response, pos)
        partitions, pos = uvarint_at(response, pos + id_bytes + _IS_INTERNAL)
        for _ in range(partitions - 1):
            pos += PARTITION_HEAD
            _put(response, pos - _EPOCH, _UNKNOWN)
            pos = behind_partition(response, pos)
        pos = skip_tags(response, pos + _OPERATIONS, len(response))
    return pos


def _forget_plain(response: bytearray, pos: int, version: int) -> int:
    operations = _OPERATIONS if version >= _FIRST_OPERATIONS else 0
    pos = _behind_string(response, pos) + _CONTROLLER_ID
    (topics,) = int32_at(response, pos)
    pos += INT32.size
    for _ in range(topics):
        pos = _behind_string(response, pos + _ERROR_CODE) + _IS_INTERNAL
        (partitions,) = int32_at(response, pos)
        pos += INT32.size
        for _ in range(partitions):
            pos += PARTITION_HEAD
            _put(response, pos - _EPOCH, _UNKNOWN)
            for _ in range(3):  # replicas, in-sync replicas, offline replicas
                (nodes,) = int32_at(response, pos)
                pos += _NODE_ID * (nodes + 1) if nodes > 0 else INT32.size
        pos += operations
    return pos


def _behind_string(buf: bytearray, pos: int) -> int:
    (length,) = int16_at(buf, pos)
    return pos + INT16.size + max(length, 0)
