# This module is pure (no I/O, no clock).
"""Reads what requests and responses say of a transaction, without decoding the rest of them.

This package's policies call it for each message about a transaction.

Version notes: InitProducerId v2, AddPartitionsToTxn v3, AddOffsetsToTxn v3, EndTxn v3 and TxnOffsetCommit v3 are the
first flexible ones; EndTxn v5 names the next transaction's id and epoch (KIP-890). AddPartitionsToTxn v4 and above are
between brokers. Produce has a transactional id from v3 on. Produce v13 and TxnOffsetCommit v6 are the first with topic
ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from kproxy.protocol.reading import well_formed
from kproxy.transactions.transactional_id import UNKNOWN, Producer
from kproxy.transactions.transactional_ids import FENCED_CODES
from kproxy.wire.apis import APIS
from kproxy.wire.arriving import behind_string, count_at, length_at, text_at
from kproxy.wire.error_walk import ErrorWalk
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.header import decode_response_header, request_body
from kproxy.wire.primitives import int16_at, int32_at, int64_at
from kproxy.wire.skim import request_stream
from kproxy.wire.walk import skip_tags

FIRST_BETWEEN_BROKERS: Final = 4
"""The first version of AddPartitionsToTxn that clients do not send."""
FIRST_NAMING_THE_NEXT: Final = 5
_FIRST_WITH_PRODUCER: Final = 3
_FIRST_TOPIC_IDS: Final[Mapping[int, int]] = {ApiKey.PRODUCE: 13, ApiKey.TXN_OFFSET_COMMIT: 6}
"""In the place of names (KIP-516)."""
_TOPIC_ID_BYTES: Final = 16
_LEAST_PARTITION: Final = 6
"""Bytes of a partition in a response: its index and a code."""
_LONG_HEAD: Final = 128 << 10
"""More bytes than any request has in front of what is read here: three names of 32,767 at most."""
_USUAL_HEAD: Final = 1 << 10
_EPOCH_AT: Final = 51
"""In a batch; its producer's epoch."""
_MOST_EXAMINED: Final = 32 << 10
"""Bytes of a response that is looked at: some 1,000 partitions, which take 4 ms (not compiled)."""


class Asked(NamedTuple):
    """A request about a transaction."""

    api_key: int
    transactional_id: str
    producer: Producer = UNKNOWN
    timeout: float | None = None
    """Seconds, of InitProducerId."""
    group: str | None = None
    commits: bool = False


class Answered(NamedTuple):
    """A broker's response. `code` is its first error, 0 for none, but that the producer was fenced comes first."""

    code: int
    accepted: int
    """How many partitions the broker has accepted; 1 where a response has one code for all."""
    producer: Producer = UNKNOWN


def asked(frame: memoryview, key: int, version: int) -> Asked | None:
    """Return what a whole request asks for, without its size; None where it is about no transaction.

    Raises `MalformedMessageError`.
    """
    if key == ApiKey.ADD_PARTITIONS_TO_TXN and version >= FIRST_BETWEEN_BROKERS:
        return None
    data, flexible = bytes(frame[:_LONG_HEAD]), version >= APIS[key].flexible_from
    with well_formed("a request about a transaction"):
        at = request_body(data, 0, key, version)
        length, _ = length_at(data, at, flexible)
        if length < 0:
            return None
        name, at = _text(data, at, flexible)
        if key == ApiKey.INIT_PRODUCER_ID:
            producer = _producer(data, at + 4) if version >= _FIRST_WITH_PRODUCER else UNKNOWN
            return Asked(key, name, producer, max(0, int32_at(data, at)[0]) / 1000)
        group = None
        if key == ApiKey.TXN_OFFSET_COMMIT:
            group, at = _text(data, at, flexible)
        producer, at = _producer(data, at), at + 10
        if key == ApiKey.ADD_OFFSETS_TO_TXN:
            group, at = _text(data, at, flexible)
        return Asked(key, name, producer, None, group, key == ApiKey.END_TXN and bool(data[at]))


def produced(buf: bytes | memoryview, pos: int, end: int) -> Asked:
    """Return what a Produce request with a transactional id says; it is there up to its acks at least.

    The producer's epoch is in the first batch, where that is near enough; its id there may not be the broker's. Raises
    `MalformedMessageError`, also for a header beyond all that clients send.
    """
    try:
        return _produced(bytes(buf[pos : min(end, pos + _USUAL_HEAD)]))
    except IndexError:  # long names
        with well_formed("a Produce request"):
            return _produced(bytes(buf[pos : min(end, pos + _LONG_HEAD)]))


def _produced(head: bytes) -> Asked:
    (version,) = int16_at(head, 2)
    body = request_body(head, 0, ApiKey.PRODUCE, version)
    name, _ = _text(head, body, version >= APIS[ApiKey.PRODUCE].flexible_from)
    return Asked(ApiKey.PRODUCE, name, Producer(epoch=_epoch(head, body, version)))


def _epoch(head: bytes, body: int, version: int) -> int:
    walk = request_stream(ApiKey.PRODUCE, version)
    assert walk is not None, f"Produce v{version} has no walk"
    at = walk.to_blob(head, body)
    if min(walk.blob, len(head) - at) < _EPOCH_AT + 2:
        return -1
    return int16_at(head, at + _EPOCH_AT)[0]


def answered(frame: memoryview, key: int, version: int, walk: ErrorWalk) -> Answered | None:
    """Return what a whole response says, without its size; None for a large one. Raises `MalformedMessageError`."""
    if len(frame) > _MOST_EXAMINED:
        return None
    data = bytes(frame)
    errors = [code for code, _, _ in walk.look(data, 0, len(data))]
    code = next((one for one in errors if one in FENCED_CODES), errors[0] if errors else 0)
    with well_formed("a response about a transaction"):
        _, at = decode_response_header(data, 0, len(data), key, version)
        if key in _BY_PARTITION:
            return Answered(code, _partitions(data, at, key, version) - len(errors))
        named = key == ApiKey.INIT_PRODUCER_ID or (key == ApiKey.END_TXN and version >= FIRST_NAMING_THE_NEXT)
        return Answered(code, int(not code), _producer(data, at + 6) if named else UNKNOWN)


_BY_PARTITION: Final = frozenset((ApiKey.PRODUCE, ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.TXN_OFFSET_COMMIT))


def _partitions(data: bytes, at: int, key: int, version: int) -> int:
    """Return how many partitions a response has; `at` is where its body begins."""
    flexible, found = version >= APIS[key].flexible_from, 0
    produce, names_topics = key == ApiKey.PRODUCE, version < _FIRST_TOPIC_IDS.get(key, version + 1)
    topics, at = count_at(data, at if produce else at + 4, flexible)
    for _ in range(topics):
        at = behind_string(data, at, flexible) if names_topics else at + _TOPIC_ID_BYTES
        partitions, at = count_at(data, at, flexible)
        found += partitions
        if at + partitions * _LEAST_PARTITION > len(data):
            raise IndexError("more partitions than bytes")
        for _ in range(partitions):
            at = _behind_produced(data, at, version) if produce else at + 6
            at = skip_tags(data, at, len(data)) if flexible else at
        at = skip_tags(data, at, len(data)) if flexible else at
    return found


def _behind_produced(data: bytes, at: int, version: int) -> int:
    """Return the position behind one partition's fields of a Produce response."""
    flexible = version >= APIS[ApiKey.PRODUCE].flexible_from
    at += 30 if version >= 5 else 22  # index, code, base offset, time of the log; from v5 on its start
    if version < 8:
        return at
    errors, at = count_at(data, at, flexible)
    for _ in range(errors):
        at = behind_string(data, at + 4, flexible)
        at = skip_tags(data, at, len(data)) if flexible else at
    return behind_string(data, at, flexible)


def _producer(data: bytes, at: int) -> Producer:
    return Producer(int64_at(data, at)[0], int16_at(data, at + 8)[0])


def _text(data: bytes, at: int, flexible: bool) -> tuple[str, int]:
    text, at = text_at(data, at, flexible)
    return str(text, "utf-8", "replace"), at
