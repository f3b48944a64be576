# This module is pure (no I/O, no clock).
"""Walks the topics of Metadata v12 and v13 without decoding: finds where they end, and which they are.

`metadata`, `answers` and `leader_epochs` call it for the Metadata requests and responses that kproxy changes or
answers.

A Metadata v13 response is a v12 one with an error code between its topics and its own tagged fields (KIP-1102). Only a
walk over every partition finds that place for certain. But brokers that serve v12 end each response in the same six
bytes: the last topic's authorized operations, which the client did not ask for, its empty section of tagged fields, and
the message's own. So the error code belongs just before the last byte. Small messages are walked, and so are large ones
that end in other bytes. A large one is misread only if a broker adds tagged fields to the message itself, as none does,
and the last of them ends in just these six bytes.

10,000 partitions: 1 µs by the last bytes, 10 ms by a walk.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kproxy.errors import MalformedMessageError
from kproxy.protocol.reading import behind
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.primitives import INT16, MAX_TAGS, ZERO_UUID, Buffer, uvarint
from kproxy.wire.walk import not_at_end, skip_tags, uvarint_at

_FIRST_ERROR_CODE: Final = 13
_ERROR_CODE: Final = 2
_CONTROLLER_ID: Final = 4
_UUID: Final = len(ZERO_UUID.bytes)
PARTITION_HEAD: Final = 14
"""Bytes of a partition's error code, index, leader and leader epoch."""
_OPERATIONS: Final = b"\x80\0\0\0"
"""Authorized operations that the client did not ask for."""
_UNTAGGED: Final = b"\0"
_LAST_TOPIC_ENDS: Final = _OPERATIONS + _UNTAGGED
MOST_ASKED: Final = 20_000
"""The most topics of a request that kproxy answers itself: so many take 17 ms."""
_WALKED: Final = 8 << 10
"""Messages with up to this many bytes of topics are always walked: 0.2 ms."""
_UNAVAILABLE: Final = INT16.pack(ErrorCode.LEADER_NOT_AVAILABLE)
_NO_PARTITION: Final = b"\x01" + _OPERATIONS + _UNTAGGED
_NOT_INTERNAL: Final = b"\0"


def error_code_at(frame: Buffer, pos: int, version: int) -> int:
    """Return where a v13 response has its error code, or a v12 one would have it; `pos` is behind the brokers."""
    topics = _topics_at(frame, pos)
    place = len(frame) - len(_UNTAGGED) - (_ERROR_CODE if version >= _FIRST_ERROR_CODE else 0)
    last_topic_ends = place - len(_LAST_TOPIC_ENDS)
    if last_topic_ends - topics > _WALKED and frame[-1] == 0 and frame[last_topic_ends:place] == _LAST_TOPIC_ENDS:
        return place
    return _walked(frame, topics, [])


def answered(frame: Buffer, pos: int, *, topic_ids: bool = True) -> Sequence[bytes]:
    """Return the topics of a response, each encoded as one without a leader; `pos` is behind the brokers.

    Without `topic_ids` their ids are zeros.
    """
    spans: list[tuple[int, int]] = []
    _walked(frame, _topics_at(frame, pos), spans)
    return [b"".join((_UNAVAILABLE, *_named(frame[start:end], topic_ids), _NO_PARTITION)) for start, end in spans]


def _named(topic: Buffer, topic_ids: bool) -> Sequence[Buffer]:
    """Return a topic's name, its id or zeros, and whether it is internal."""
    id_at = len(topic) - len(_NOT_INTERNAL) - _UUID
    return (topic,) if topic_ids else (topic[:id_at], ZERO_UUID.bytes, topic[id_at + _UUID :])


def asked(frame: Buffer, body: int) -> Sequence[bytes] | None:
    """Return the topics of the request with its body at `body`, each encoded as one without a leader.

    None for all topics, and for more than MOST_ASKED.
    """
    count, pos = uvarint_at(frame, body)
    if not 0 < count <= MOST_ASKED + 1:
        return None
    topics: list[bytes] = []
    for _ in range(count - 1):
        name = pos + _UUID
        end = behind(frame, name)
        topics.append(b"".join((_UNAVAILABLE, frame[name:end], frame[pos:name], _NOT_INTERNAL, _NO_PARTITION)))
        pos = _behind_few_tags(frame, end)
    return topics


def _behind_few_tags(frame: Buffer, pos: int) -> int:
    """Return the position behind a client's section of tagged fields, which could have millions of them."""
    count, _ = uvarint_at(frame, pos)
    if count > MAX_TAGS:
        raise MalformedMessageError(f"{count} tagged fields; the limit is {MAX_TAGS}")
    return skip_tags(frame, pos, len(frame))


def asks_by_id(frame: Buffer, body: int) -> bool:
    """True when the request with its body at `body` gives topic ids: all topics are like the first."""
    count, pos = uvarint_at(frame, body)
    return count > 1 and any(frame[pos : pos + _UUID])


def with_topics(body: bytes, topics: Sequence[bytes]) -> bytes:
    """Return the body of a v13 response without topics, with these added."""
    end = len(body) - len(_UNTAGGED) - _ERROR_CODE
    return b"".join((body[: end - 1], uvarint(len(topics) + 1), *topics, body[end:]))


def _topics_at(frame: Buffer, pos: int) -> int:
    """Return the position behind the cluster's id and the controller's."""
    return behind(frame, pos) + _CONTROLLER_ID


def _walked(buf: Buffer, pos: int, spans: list[tuple[int, int]]) -> int:
    """Return the position behind all topics; append the span of each one's name, id and internal flag."""
    count, pos = uvarint_at(buf, pos)
    for _ in range(count - 1):
        start = pos + _ERROR_CODE
        pos = behind(buf, start) + _UUID + len(_NOT_INTERNAL)
        spans.append((start, pos))
        partitions, pos = uvarint_at(buf, pos)
        for _ in range(partitions - 1):
            pos = behind_partition(buf, pos + PARTITION_HEAD)
        pos = skip_tags(buf, pos + len(_OPERATIONS), len(buf))
    if pos >= len(buf):
        raise not_at_end()
    return pos


def behind_partition(buf: Buffer, pos: int) -> int:
    """Return the position behind a partition; `pos` is at its replicas, before the in-sync and the offline ones."""
    for _ in range(3):
        size = buf[pos]
        pos += 1
        if size > 0x7F:
            size, pos = uvarint_at(buf, pos - 1)
        if size > 1:
            pos += 4 * (size - 1)
    return pos + 1 if not buf[pos] else skip_tags(buf, pos, len(buf))
