# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Makes the response that refuses an OffsetCommit or TxnOffsetCommit request, without decoding the request.

kproxy.coordinator and kproxy.rebootstrap refuse commits. A consumer may commit offsets of 10,000 partitions at once;
the response has the error for each of them. To decode that would hold up all other connections.

Version notes: OffsetCommit has a member from v1 on and an instance from v7 on, TxnOffsetCommit both from v3 on. A
retention is in OffsetCommit v2 to v4, a timestamp for each partition in v1. Leader epochs are in OffsetCommit from v6
on, in TxnOffsetCommit from v2 on; topics are named by id from v10 and v6 on.
"""

from __future__ import annotations

from typing import Final

from kproxy.errors import MalformedMessageError
from kproxy.wire.apis import APIS
from kproxy.wire.arriving import ArrivingWalk, behind_string, count_at, number_at
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.primitives import INT16, Buffer

MOST_NAMED: Final = 100_000
"""The most topics and partitions of a commit that can be refused: the walk keeps some 60 bytes of each."""
_KEY_VERSION_ID: Final = 8
"""Bytes of a request's header in front of the client id."""
_PRODUCER: Final = 10
"""Bytes of a producer's id and epoch."""
_GENERATION: Final = 4
_UUID: Final = 16
_INDEX: Final = 4
_NO_THROTTLE: Final = bytes(4)
_NO_TAGS: Final = b"\0"
_NOWHERE: Final = 1 << 62
"""A position that no frame reaches."""
_HEADER, _HEADER_TAGS, _FRONT, _TOPIC, _PARTITION, _TOPIC_TAGS, _LAST_TAGS, _END = range(8)


class CommitWalk(ArrivingWalk):
    """Walks over a commit; `refused` returns the body of its response.

    The response names topics and partitions by the bytes of the request. The error is not known yet while the request
    arrives, so what stands between two places for it is kept.
    """

    __slots__ = (
        "_between",
        "_by_id",
        "_flexible",
        "_in_transaction",
        "_instance",
        "_member",
        "_offset",
        "_partitions",
        "_pieces",
        "_retention",
        "_state",
        "_topics",
        "named",
    )

    def __init__(self, api_key: int, version: int) -> None:
        super().__init__()
        txn = api_key == ApiKey.TXN_OFFSET_COMMIT
        self._flexible = version >= APIS[api_key].flexible_from
        self._in_transaction = txn
        self._member = version >= (3 if txn else 1)
        self._instance = version >= (3 if txn else 7)
        self._retention = 8 if not txn and 2 <= version <= 4 else 0
        self._by_id = version >= (6 if txn else 10)
        epoch = 4 if version >= (2 if txn else 6) else 0
        timestamp = 8 if not txn and version == 1 else 0
        self._offset = 8 + epoch + timestamp  # bytes of a partition between its index and its metadata
        self._state = _HEADER
        self._topics = 0  # still to come
        self._partitions = 0  # of the present topic, still to come
        self._between = bytearray(_NO_THROTTLE if txn or version >= 3 else b"")  # what follows the last error
        self._pieces: list[bytes] = []  # what is in front of each error, and behind the one before
        self.named = 0
        """How many topics and partitions there are; the walk ends where they are more than `MOST_NAMED`."""

    def look(self, buf: Buffer, pos: int, end: int) -> None:
        """As `ArrivingWalk`, but it raises nothing: a commit that is not refused is the broker's, whatever is in it."""
        try:
            super().look(buf, pos, end)
        except MalformedMessageError:
            self._at = _NOWHERE

    def refused(self, error: int) -> bytes:
        """Return the body of a response, in the request's version, with the error for each partition."""
        return INT16.pack(error).join([*self._pieces, bytes(self._between)])

    def _step(self, data: bytes, pos: int) -> int:
        state = self._state
        if state == _PARTITION:
            return self._partition(data, pos)
        if state == _TOPIC:
            return self._topic(data, pos)
        if state == _FRONT:
            return self._front(data, pos)
        if state == _HEADER:
            pos = behind_string(data, pos + _KEY_VERSION_ID, False)
            self._state = _HEADER_TAGS if self._flexible else _FRONT
            return pos
        return self._section(data, pos)

    def _front(self, data: bytes, pos: int) -> int:
        """Take all fields in front of the topics, and the number of these."""
        flexible = self._flexible
        if self._in_transaction:
            pos = behind_string(data, pos, flexible)  # the transactional id
        pos = behind_string(data, pos, flexible)  # the group's id
        if self._in_transaction:
            pos += _PRODUCER
        if self._member:
            pos = behind_string(data, pos + _GENERATION, flexible)
        if self._instance:
            pos = behind_string(data, pos, flexible)
        pos += self._retention
        self._topics, behind = count_at(data, pos, flexible)
        self._between += data[pos:behind]
        self._next_topic()
        return behind

    def _topic(self, data: bytes, pos: int) -> int:
        """Take a topic's name or id, and the number of its partitions."""
        behind = pos + _UUID if self._by_id else behind_string(data, pos, self._flexible)
        self._partitions, behind = count_at(data, behind, self._flexible)
        self._between += data[pos:behind]
        self._name_one()
        self._next_partition()
        return behind

    def _partition(self, data: bytes, pos: int) -> int:
        behind = behind_string(data, pos + _INDEX + self._offset, self._flexible)
        if self._flexible:
            self._tags, behind = number_at(data, behind)
        self._between += data[pos : pos + _INDEX]
        self._pieces.append(bytes(self._between))
        self._between.clear()
        self._end_struct()
        self._partitions -= 1
        self._name_one()
        self._next_partition()
        return behind

    def _next_partition(self) -> None:
        if self._partitions:
            self._state = _PARTITION
            return
        self._end_struct()
        self._topics -= 1
        if self._flexible:
            self._state = _TOPIC_TAGS
        else:
            self._next_topic()

    def _next_topic(self) -> None:
        if self._topics:
            self._state = _TOPIC
            return
        self._end_struct()
        self._state = _LAST_TAGS
        self._over = not self._flexible

    def _section(self, data: bytes, pos: int) -> int:
        """Take the number of tagged fields at the end of the header, of a topic or of the message."""
        self._tags, pos = number_at(data, pos)
        if self._state == _HEADER_TAGS:
            self._state = _FRONT
        elif self._state == _TOPIC_TAGS:
            self._next_topic()
        else:
            self._state = _END
            self._over = not self._tags
        return pos

    def _tag(self, data: bytes, pos: int) -> int:
        pos = super()._tag(data, pos)
        if self._state == _END and not self._tags:
            self._over = True
        return pos

    def _end_struct(self) -> None:
        """End a partition, a topic or the message in the response."""
        if self._flexible:
            self._between += _NO_TAGS

    def _name_one(self) -> None:
        self.named += 1
        if self.named > MOST_NAMED:
            self._over = True
