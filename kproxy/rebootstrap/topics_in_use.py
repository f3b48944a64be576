# This module is pure (no I/O, no clock).
"""Which topics clients use, as their Metadata requests say: before a failover they are sought at the other cluster.

`kproxy.cluster.policies` composes the policy with those of other rooms; `kproxy.cluster.topics_there` compares.

Clients ask for the topics that they use when they begin, and every `metadata.max.age.ms` (5 min) after that. Only the
head of a request is read, and it passes unchanged: what is cut, since the request came in pieces, comes again. Who asks
for all topics (a consumer with a pattern, an admin) says nothing of those that it uses. From v12 on a topic may be
named by its id, which another cluster does not know: such an entry is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from struct import Struct
from struct import error as StructError
from typing import Final

from kproxy.errors import MalformedMessageError
from kproxy.protocol.api_table import ApiPolicy
from kproxy.protocol.context import Context
from kproxy.wire.apis import APIS
from kproxy.wire.arriving import length_at, text_at
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.header import request_body
from kproxy.wire.primitives import Buffer
from kproxy.wire.walk import skip_tags, uvarint_at

CAPACITY: Final = 10_000
"""The most topics that are remembered for a virtual cluster; those that were asked for the longest ago go first."""
REMEMBERED: Final = 900.0
"""Seconds for which a topic counts as used: three times as long as clients wait by default before they ask again."""
_MOST_BYTES: Final = 64 << 10
"""Of a request that are looked at."""
_MOST_NAMED: Final = 1000
"""Topics of one request: who asks for more is no client that uses them."""
_KEY_AND_VERSION: Final = Struct(">hh")
_FIRST_WITH_IDS: Final = 10
_ID_BYTES: Final = 16
_MOST_NAME: Final = 249


class TopicsInUse:
    """The topics that the clients of one virtual cluster asked for lately, in bounded memory."""

    def __init__(self, clock: Callable[[], float], capacity: int = CAPACITY) -> None:
        """`clock` gives seconds."""
        self._clock = clock
        self._capacity = capacity
        self._asked: dict[str, float] = {}
        """When each was last asked for, the one that was asked for the longest ago first."""

    def note(self, names: Sequence[str]) -> None:
        """Note that a client asked for these."""
        now = self._clock()
        for name in names:
            self._asked.pop(name, None)
            self._asked[name] = now
        while len(self._asked) > self._capacity:
            del self._asked[next(iter(self._asked))]

    def names(self) -> Sequence[str]:
        """Return those that count as used now, in order."""
        since = self._clock() - REMEMBERED
        while self._asked and self._asked[oldest := next(iter(self._asked))] < since:
            del self._asked[oldest]
        return sorted(self._asked)


def policies(topics: TopicsInUse) -> Mapping[int, ApiPolicy]:
    """Return the policies by api key; none of them changes or answers a request."""
    return {ApiKey.METADATA: ApiPolicy(before=partial(_note, topics))}


def _note(topics: TopicsInUse, context: Context, buf: Buffer, pos: int, end: int) -> None:
    names: list[str] = []
    head = bytes(buf[pos : min(end, pos + _MOST_BYTES)])
    try:
        names.extend(_named(head))
    except (IndexError, StructError, UnicodeDecodeError, MalformedMessageError):
        return  # cut, or no such request: the broker says so
    topics.note(names)


def _named(head: bytes) -> Iterator[str]:
    """Yield the names in a request that begins at its api key; IndexError where it is cut."""
    key, version = _KEY_AND_VERSION.unpack_from(head)
    flexible = version >= APIS[key].flexible_from
    at = request_body(head, 0, key, version)
    if flexible:
        count, at = uvarint_at(head, at)
        count -= 1
    else:
        count, at = int.from_bytes(head[at : at + 4], "big", signed=True), at + 4
    for _ in range(count if count <= _MOST_NAMED else 0):
        at += _ID_BYTES if version >= _FIRST_WITH_IDS else 0
        length, _ = length_at(head, at, flexible)
        name, at = text_at(head, at, flexible)
        if 0 < length <= _MOST_NAME:
            yield str(name, "utf-8")
        if flexible:
            at = skip_tags(head, at, len(head))
