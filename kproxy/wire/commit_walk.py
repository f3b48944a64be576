# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Makes the response that refuses an OffsetCommit or TxnOffsetCommit request, without decoding the request.

kproxy.coordinator and kproxy.rebootstrap refuse commits. A consumer may commit offsets of 10,000 partitions at once;
the response has the error for each of them. To decode that would hold up all other connections.

Version notes: OffsetCommit has a member from v1 on and an instance from v7 on, TxnOffsetCommit both from v3 on. A
retention is in OffsetCommit v2 to v4, a timestamp for each partition in v1. Leader epochs are in OffsetCommit from v6
on, in TxnOffsetCommit from v2 on; topics are named by id from v10 and v6 on. The response of OffsetCommit has a
throttle time from v3 on, that of TxnOffsetCommit always.
"""

from __future__ import annotations

from array import array
from typing import Final

from kproxy.errors import MalformedMessageError
from kproxy.wire.apis import APIS
from kproxy.wire.arriving import ArrivingWalk, behind_string, count_at, number_at, text_at
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.primitives import INT16, INT32, MAX_TAGS, Buffer, uvarint

MOST_NAMED: Final = 100_000
"""The most topics and partitions of a commit that can be refused."""
_KEY_VERSION_ID: Final = 8
"""Bytes of a request's header in front of the client id."""
_PRODUCER: Final = 10
"""Bytes of a producer's id and epoch."""
_GENERATION: Final = 4
_UUID: Final = 16
_INDEX: Final = 4
_NO_THROTTLE: Final = bytes(4)
_NO_ERROR: Final = bytes(2)
_NO_TAGS: Final = b"\0"
_NOWHERE: Final = 1 << 62
"""A position that no frame reaches."""
_HEADER, _HEADER_TAGS, _FRONT, _TOPIC, _PARTITION, _TOPIC_TAGS, _LAST_TAGS, _END = range(8)


class CommitWalk(ArrivingWalk):
    """Walks over a commit; `refused` returns the body of its response.

    The response is written while the request arrives, with no error at each partition, since the error is known last.
    """

    __slots__ = (
        "_answer",
        "_behind_index",
        "_by_id",
        "_counts",
        "_firsts",
        "_flexible",
        "_in_transaction",
        "_instance",
        "_member",
        "_partitions",
        "_retention",
        "_state",
        "_to_metadata",
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
        self._to_metadata = _INDEX + 8 + epoch + timestamp  # bytes of a partition in front of its metadata
        self._state = _HEADER
        self._topics = 0  # still to come
        self._partitions = 0  # of the present topic, still to come
        self._answer = bytearray(_NO_THROTTLE if txn or version >= 3 else b"")
        self._behind_index = _NO_ERROR + (_NO_TAGS if self._flexible else b"")  # of a partition, in the answer
        self._firsts = array("I")  # for each topic with partitions: where its first error is in the answer
        self._counts = array("I")  # and how many it has; they are at equal distances
        self.named = 0
        """How many topics and partitions there are; the walk ends where they are more than `MOST_NAMED`."""

    @property
    def kept(self) -> int:
        """As `ArrivingWalk`."""
        return len(self._answer) + 8 * len(self._firsts)

    def look(self, buf: Buffer, pos: int, end: int) -> None:
        """As `ArrivingWalk`, but what is malformed is raised by `finish`: no commit is at fault that is not refused.

        The broker may be its group's coordinator.
        """
        try:
            super().look(buf, pos, end)
        except MalformedMessageError:
            self._at = _NOWHERE

    def refused(self, error: int) -> bytes:
        """Return the body of a response, in the request's version, with the error for each partition."""
        answer, distance = self._answer, _INDEX + len(self._behind_index)
        for place, byte in enumerate(INT16.pack(error)):
            for first, count in zip(self._firsts, self._counts, strict=True):
                answer[first + place : first + count * distance : distance] = bytes((byte,)) * count
        return bytes(answer)

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
        self._topics, pos = count_at(data, pos + self._retention, flexible)
        self._answer_count(self._topics)
        self._next_topic()
        return pos

    def _topic(self, data: bytes, pos: int) -> int:
        """Take a topic's name or id, and the number of its partitions."""
        if self._by_id:
            behind = pos + _UUID
            named = data[pos:behind]
        else:
            name, behind = text_at(data, pos, self._flexible)
            named = (uvarint(len(name) + 1) if self._flexible else INT16.pack(len(name))) + name
        self._partitions, behind = count_at(data, behind, self._flexible)
        self._answer += named
        self._answer_count(self._partitions)
        if self._partitions and not self._over:
            self._firsts.append(len(self._answer) + _INDEX)
            self._counts.append(self._partitions)
        self._next_partition()
        return behind

    def _partition(self, data: bytes, pos: int) -> int:
        behind = behind_string(data, pos + self._to_metadata, self._flexible)
        if self._flexible:
            self._tags, behind = _tag_count(data, behind)  # `look` takes the tagged fields themselves
        self._answer += data[pos : pos + _INDEX]
        self._answer += self._behind_index
        self._partitions -= 1
        self._next_partition()
        return behind

    def _next_partition(self) -> None:
        """Go on with the topic's next partition, or end the topic."""
        if self._partitions:
            self._state = _PARTITION
            return
        self._answer_no_tags()
        self._topics -= 1
        if self._flexible:
            self._state = _TOPIC_TAGS
        else:
            self._next_topic()

    def _next_topic(self) -> None:
        """Go on with the next topic, or end the message."""
        if self._topics:
            self._state = _TOPIC
            return
        self._answer_no_tags()
        self._state = _LAST_TAGS
        self._over = not self._flexible

    def _section(self, data: bytes, pos: int) -> int:
        """Take the number of tagged fields at the end of the header, of a topic or of the message."""
        self._tags, pos = _tag_count(data, pos)
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

    def _answer_count(self, count: int) -> None:
        """Begin an array of topics or of partitions in the response."""
        self._answer += uvarint(count + 1) if self._flexible else INT32.pack(count)
        self.named += count
        self._over = self.named > MOST_NAMED

    def _answer_no_tags(self) -> None:
        """End a topic or the message in the response."""
        if self._flexible:
            self._answer += _NO_TAGS


def _tag_count(data: bytes, pos: int) -> tuple[int, int]:
    """Return the number of tagged fields in a section, and the position of the first."""
    count, pos = number_at(data, pos)
    if count > MAX_TAGS:
        raise MalformedMessageError(f"{count} tagged fields in a section; the limit is {MAX_TAGS}")
    return count, pos
