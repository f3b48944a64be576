# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Finds groups of interest in messages that list groups, without decoding the others.

kproxy.coordinator.apis has the relay walk over an admin's requests and the broker's responses as their bytes arrive. A
cluster may have 100,000 groups, and a group 10,000 members: to decode them would hold up all other connections.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from kproxy.errors import MalformedMessageError
from kproxy.wire.apis import APIS
from kproxy.wire.arriving import ArrivingWalk, behind_string, count_at, number_at, text_at
from kproxy.wire.primitives import INT32, MAX_INT32, MAX_TAGS, Buffer, uvarint

_KEY_VERSION_ID: Final = 8
"""Bytes of a request's header in front of the client id."""
_CORRELATION_ID: Final = 4
_THROTTLE: Final = 4
_ERROR: Final = 2
_OPERATIONS: Final = 4
_STATES: Final = 4
"""The first version of ListGroups with states."""
_TYPES: Final = 5
"""The first version of ListGroups with types."""
_INSTANCES: Final = 4
"""The first version of DescribeGroups with instance ids."""
_MESSAGE_DESCRIBED: Final = 6
"""The first version of DescribeGroups with an error message for each group."""
_MESSAGE_DELETED: Final = 3
"""The first version of DeleteGroups with one."""
AUTHORIZED: Final = 3
"""The first version of DescribeGroups with the operations that the principal is authorized for."""
_HEADER, _HEADER_TAGS, _COUNT, _GROUP, _MEMBER, _BEHIND_MEMBERS, _GROUP_END = range(7)


class FoundGroup(NamedTuple):
    """A group of interest: its id, and the positions in the frame (without its size) where it begins and ends."""

    group_id: str
    begin: int
    end: int


class GroupWalk(ArrivingWalk):
    """Walks over a message that is an array of groups, with a few numbers before it and anything behind it."""

    __slots__ = (
        "_before",
        "_begin",
        "_concerns",
        "_left",
        "_most",
        "_name",
        "_request",
        "_state",
        "count",
        "count_at",
        "end",
        "flexible",
        "found",
        "start",
        "version",
    )

    def __init__(
        self,
        concerns: Callable[[str], bool],
        api_key: int,
        version: int,
        *,
        request: bool,
        before: int = 0,
        most: int = MAX_INT32,
    ) -> None:
        """`concerns` tells the ids of interest. `before` is how many bytes of the body are in front of the array."""
        super().__init__()
        self._concerns = concerns
        self._request = request
        self._before = before
        self._most = most
        self._state = _HEADER
        self._left = 0
        self._begin = 0  # of the present group
        self._name: str | None = None  # of the present group, if it is of interest
        self.version = version
        self.flexible = version >= APIS[api_key].flexible_from
        self.count = 0
        """How many groups there are. If they are more than `most`, the walk ends before the first."""
        self.count_at = 0
        """The position of their number."""
        self.start = 0
        """The position of the first group."""
        self.end = 0
        """The position behind the last group."""
        self.found: list[FoundGroup] = []
        """The groups of interest, in their order."""

    def _step(self, data: bytes, pos: int) -> int:
        state = self._state
        if state >= _GROUP:
            return self._group(data, pos)
        if state == _COUNT:
            self.count, behind = count_at(data, pos + self._before, self.flexible)
            self._left = self.count
            self.count_at = self._at + pos + self._before
            self.start = self.end = self._at + behind
            self._state = _GROUP
            self._over = not 0 < self.count <= self._most
            return behind
        if state == _HEADER:
            if self._request:
                pos = behind_string(data, pos + _KEY_VERSION_ID, False)
            else:
                pos += _CORRELATION_ID
            self._state = _HEADER_TAGS if self.flexible else _COUNT
            return pos
        pos = self._section(data, pos)
        self._state = _COUNT
        return pos

    def _section(self, data: bytes, pos: int) -> int:
        """Take the number of tagged fields at the end of a header, a member or a group."""
        count, pos = number_at(data, pos)
        if count > MAX_TAGS:
            raise MalformedMessageError(f"{count} tagged fields in a section; the limit is {MAX_TAGS}")
        self._tags = count
        return pos

    @abstractmethod
    def _group(self, data: bytes, pos: int) -> int:
        """Take a group, or a part of it; return the position behind it."""

    def _begins(self, pos: int, raw: bytes) -> None:
        """Note the first part of a group, and its id if it is of interest."""
        name = str(raw, "utf-8", "replace")
        self._begin = self._at + pos
        self._name = name if self._concerns(name) else None

    def _last_field(self, data: bytes, pos: int) -> int:
        """Take what follows a group's last field."""
        if self.flexible:
            pos = self._section(data, pos)
            if self._tags:
                self._state = _GROUP_END
                return pos
        return self._ends(pos)

    def _ends(self, pos: int) -> int:
        self.end = self._at + pos
        if self._name is not None:
            self.found.append(FoundGroup(self._name, self._begin, self.end))
            self._name = None
        self._left -= 1
        self._over = not self._left
        self._state = _GROUP
        return pos

    def replaced(self, frame: Buffer, encoded: Sequence[Buffer | None], added: Sequence[Buffer] = ()) -> bytes:
        """Return the frame with others in place of the groups that were found, and some added behind all.

        None takes a group out.
        """
        chunks: list[Buffer] = [frame[: self.count_at], b""]
        pos, count = self.start, self.count + len(added)
        for found, one in zip(self.found, encoded, strict=True):
            chunks.append(frame[pos : found.begin])
            pos = found.end
            if one is None:
                count -= 1
            else:
                chunks.append(one)
        chunks[1] = uvarint(count + 1) if self.flexible else INT32.pack(count)
        chunks.append(frame[pos : self.end])
        chunks.extend(added)
        chunks.append(frame[self.end :])
        return b"".join(chunks)


class NamedGroups(GroupWalk):
    """The groups that a DescribeGroups or DeleteGroups request names, `most` of them at most."""

    __slots__ = ()

    def __init__(self, concerns: Callable[[str], bool], most: int, api_key: int, version: int) -> None:
        super().__init__(concerns, api_key, version, request=True, most=most)

    def _group(self, data: bytes, pos: int) -> int:
        raw, behind = text_at(data, pos, self.flexible)
        self._begins(pos, raw)
        return self._ends(behind)


class ListedGroups(GroupWalk):
    """The groups of a ListGroups response.

    Version notes: a throttle time is in v1, states are in v4 (KIP-518), types in v5 (KIP-848).
    """

    __slots__ = ("_strings",)

    def __init__(self, concerns: Callable[[str], bool], api_key: int, version: int) -> None:
        super().__init__(concerns, api_key, version, request=False, before=_THROTTLE * (version > 0) + _ERROR)
        self._strings = 1 + (version >= _STATES) + (version >= _TYPES)  # a group's, behind its id

    def _group(self, data: bytes, pos: int) -> int:
        if self._state == _GROUP_END:
            return self._ends(pos)
        raw, behind = text_at(data, pos, self.flexible)
        for _ in range(self._strings):
            behind = behind_string(data, behind, self.flexible)
        self._begins(pos, raw)
        return self._last_field(data, behind)


class DescribedGroups(GroupWalk):
    """The groups of a DescribeGroups response.

    Version notes: a throttle time is in v1, authorized operations are in v3, instance ids in v4, messages in v6.
    """

    __slots__ = ("_members",)

    def __init__(self, concerns: Callable[[str], bool], api_key: int, version: int) -> None:
        super().__init__(concerns, api_key, version, request=False, before=_THROTTLE * (version > 0))
        self._members = 0  # of the present group, still to come

    def _group(self, data: bytes, pos: int) -> int:
        if self._state == _MEMBER:
            return self._member(data, pos)
        if self._state == _BEHIND_MEMBERS:
            return self._last_field(data, pos + _OPERATIONS)
        if self._state == _GROUP_END:
            return self._ends(pos)
        flexible, behind = self.flexible, pos + _ERROR
        if self.version >= _MESSAGE_DESCRIBED:
            behind = behind_string(data, behind, flexible)
        raw, behind = text_at(data, behind, flexible)
        for _ in range(3):  # state, protocol type, protocol name
            behind = behind_string(data, behind, flexible)
        self._members, behind = count_at(data, behind, flexible)
        self._begins(pos, raw)
        if not self._members:
            return self._behind_members(behind)
        self._state = _MEMBER
        return behind

    def _member(self, data: bytes, pos: int) -> int:
        """Take a member, but for its tagged fields."""
        flexible = self.flexible
        for _ in range(4 if self.version >= _INSTANCES else 3):  # member id, instance id, client id, host
            pos = behind_string(data, pos, flexible)
        for _ in range(2):  # metadata, assignment
            size, pos = count_at(data, pos, flexible)
            pos += size
        if flexible:
            pos = self._section(data, pos)
        self._members -= 1
        return pos if self._members else self._behind_members(pos)

    def _behind_members(self, pos: int) -> int:
        if self.version < AUTHORIZED:
            return self._ends(pos)
        self._state = _BEHIND_MEMBERS
        return pos


class DeletedGroups(GroupWalk):
    """The groups of a DeleteGroups response; v3 has an error message for each."""

    __slots__ = ()

    def __init__(self, concerns: Callable[[str], bool], api_key: int, version: int) -> None:
        super().__init__(concerns, api_key, version, request=False, before=_THROTTLE)

    def _group(self, data: bytes, pos: int) -> int:
        if self._state == _GROUP_END:
            return self._ends(pos)
        raw, behind = text_at(data, pos, self.flexible)
        behind += _ERROR
        if self.version >= _MESSAGE_DELETED:
            behind = behind_string(data, behind, self.flexible)
        self._begins(pos, raw)
        return self._last_field(data, behind)
