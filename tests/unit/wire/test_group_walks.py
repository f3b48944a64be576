"""Hosted groups are found in messages of any size, without decoding the others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.delete_groups_request import DeleteGroupsRequest
from kproxy.wire.generated.delete_groups_response import DeleteGroupsResponse
from kproxy.wire.generated.describe_groups_request import DescribeGroupsRequest
from kproxy.wire.generated.describe_groups_response import DescribedGroup, DescribeGroupsResponse
from kproxy.wire.generated.list_groups_response import ListGroupsResponse
from kproxy.wire.group_walks import DeletedGroups, DescribedGroups, GroupWalk, ListedGroups, NamedGroups
from kproxy.wire.header import decode_request_header, decode_response_header
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import MAX_TAGS, uvarint
from kproxy.wire.reader import Reader
from tests.property.wire_contents import TAGS
from tests.support.every import every
from tests.unit.relay import frames

DESCRIBE, LIST, DELETE = ApiKey.DESCRIBE_GROUPS, ApiKey.LIST_GROUPS, ApiKey.DELETE_GROUPS
MINE = ("mine", "mine-" + "x" * 300, "mine-ö")
GROUPS = ("a", MINE[0], "b" * 200, MINE[1], MINE[0], "", MINE[2])
MOST = 1000
STEPS = (1, 7, 128 << 10)
UNKNOWN = [(9, b"nine"), (300, b"")]

NAMED = [(key, version) for key in (DESCRIBE, DELETE) for version in frames.versions(key)]
LISTING = [(key, version) for key in (DESCRIBE, LIST, DELETE) for version in frames.versions(key)]


def hosted(group_id: str) -> bool:
    return group_id.startswith("mine")


def make(key: int, *, request: bool = False) -> Callable[[int, int], GroupWalk]:
    if request:
        return partial(NamedGroups, hosted, MOST)
    kinds: dict[int, Callable[..., GroupWalk]] = {
        DESCRIBE: DescribedGroups,
        LIST: ListedGroups,
        DELETE: DeletedGroups,
    }
    return partial(kinds[key], hosted)


def requested(key: int, version: int, groups: tuple[str, ...], *, tags: bool = True) -> bytes:
    """A request that names the groups, without its size."""
    fields: dict[str, Any] = {"Groups" if key == DESCRIBE else "GroupsNames": list(groups)}
    if tags and flexible(key, version):
        fields[TAGS] = UNKNOWN
    return frames.request(key, version, 5, fields, client_id="an admin")[4:]


def flexible(key: int, version: int) -> bool:
    return version >= {DESCRIBE: 5, LIST: 3, DELETE: 2}[ApiKey(key)]


def member(name: str, version: int) -> dict[str, Any]:
    tagged = {TAGS: UNKNOWN} if flexible(DESCRIBE, version) and len(name) % 2 else {}
    static = {"GroupInstanceId": name} if version >= 4 else {}
    data = {"MemberMetadata": b"m" * 200, "MemberAssignment": b""}
    return {"MemberId": name, "ClientId": "c", "ClientHost": "/h", **static, **data, **tagged}


def group(key: int, version: int, name: str, position: int) -> dict[str, Any]:
    """An entry of a response; every other one has tagged fields, where the version has some."""
    tagged = {TAGS: UNKNOWN} if flexible(key, version) and position % 2 else {}
    if key == LIST:
        states = {"GroupState": "Stable"} if version >= 4 else {}
        types = {"GroupType": "classic"} if version >= 5 else {}
        return {"GroupId": name, "ProtocolType": "consumer", **states, **types, **tagged}
    if key == DELETE:
        message = {"ErrorMessage": None if position % 2 else "why"} if version >= 3 else {}
        return {"GroupId": name, "ErrorCode": 69, **message, **tagged}
    members = [member("m" * (each + 1), version) for each in range(position % 3)]
    message = {"ErrorMessage": "why" if position % 2 else None} if version >= 6 else {}
    state = {"GroupState": "Stable", "ProtocolType": "consumer", "ProtocolData": "range"}
    return {"GroupId": name, "ErrorCode": 0, **message, **state, "Members": members, **tagged}


def answered(key: int, version: int, groups: tuple[str, ...]) -> bytes:
    """A response that lists the groups, without its size."""
    entries = [group(key, version, name, position) for position, name in enumerate(groups)]
    tagged = {TAGS: UNKNOWN} if flexible(key, version) else {}
    tags = ((7, b"header"),) if flexible(key, version) else ()
    return frames.response(key, version, 5, {"Results" if key == DELETE else "Groups": entries, **tagged}, tags)[4:]


def walked(walk: GroupWalk, frame: bytes, step: int = 128 << 10) -> GroupWalk:
    """The walk when the frame arrives in pieces."""
    for end in range(step, len(frame) + step, step):
        walk.look(frame, 0, min(end, len(frame)))
    walk.finish(len(frame))
    return walk


def request_names(key: int, version: int, frame: bytes) -> list[str]:
    _, body = decode_request_header(frame, 0, len(frame))
    if key == DESCRIBE:
        return DescribeGroupsRequest.decode(frame[body:], version).groups
    return DeleteGroupsRequest.decode(frame[body:], version).groups_names


RESPONSES: dict[int, Any] = {DESCRIBE: DescribeGroupsResponse, LIST: ListGroupsResponse, DELETE: DeleteGroupsResponse}


def decoded(key: int, version: int, frame: bytes) -> tuple[list[Any], WireMessage]:
    """The entries of a response, and the response."""
    _, body = decode_response_header(frame, 0, len(frame), key, version)
    response = RESPONSES[key].decode(frame[body:], version)
    return list(response.results if key == DELETE else response.groups), response


@every("step", STEPS)
@every(("key", "version"), NAMED)
def test_groups_that_are_named(key: int, version: int, step: int) -> None:
    """Those of interest are found in every version, however the request arrives, and the others stay as they are."""
    frame = requested(key, version, GROUPS)
    walk = walked(make(key, request=True)(key, version), frame, step)
    assert (walk.count, [one.group_id for one in walk.found]) == (
        len(GROUPS),
        [each for each in GROUPS if hosted(each)],
    )
    assert walk.replaced(frame, [frame[one.begin : one.end] for one in walk.found]) == frame
    without = walk.replaced(frame, [None] * len(walk.found))
    assert request_names(key, version, without) == [each for each in GROUPS if not hosted(each)]


@every("step", STEPS)
@every(("key", "version"), LISTING)
def test_groups_of_a_response(key: int, version: int, step: int) -> None:
    """Each of interest is found with all that belongs to it; others may stand in its place or be added."""
    frame = answered(key, version, GROUPS)
    walk = walked(make(key)(key, version), frame, step)
    entries, response = decoded(key, version, frame)
    mine = [one for one in entries if hosted(one.group_id)]
    assert walk.count == len(GROUPS)
    assert [type(mine[0]).read(Reader(frame[one.begin : one.end]), version) for one in walk.found] == mine
    encoded = [frame[one.begin : one.end] for one in walk.found]
    assert walk.replaced(frame, encoded) == frame
    changed, other = decoded(key, version, walk.replaced(frame, [None, encoded[0], None, encoded[1]], encoded[2:]))
    theirs = [one for one in entries if not hosted(one.group_id)]
    assert changed == [*theirs[:2], mine[0], theirs[2], mine[1], *mine[2:]]
    assert getattr(other, "unknown_tags", None) == getattr(response, "unknown_tags", None)


@every(("key", "version"), LISTING)
def test_a_response_without_groups(key: int, version: int) -> None:
    """Nothing is found; groups may be added."""
    frame = answered(key, version, ())
    walk = walked(make(key)(key, version), frame)
    assert (walk.count, walk.found, walk.replaced(frame, [])) == (0, [], frame)
    other = answered(key, version, ("b",))
    added = walked(make(key)(key, version), other)
    assert decoded(key, version, walk.replaced(frame, [], [other[added.start : added.end]])) == decoded(
        key, version, other
    )


@every(("key", "version"), LISTING)
def test_a_response_that_is_cut(key: int, version: int) -> None:
    """It is malformed wherever it ends within the groups."""
    frame = answered(key, version, ("mine", "b"))
    whole = walked(make(key)(key, version), frame)
    for size in range(whole.end):
        with pytest.raises(MalformedMessageError):
            walked(make(key)(key, version), frame[:size])


@every(("key", "version"), NAMED)
def test_a_request_that_is_cut(key: int, version: int) -> None:
    """The same."""
    frame = requested(key, version, ("mine", "b"))
    whole = walked(make(key, request=True)(key, version), frame)
    for size in range(whole.end):
        with pytest.raises(MalformedMessageError):
            walked(make(key, request=True)(key, version), frame[:size])


@every(("key", "version"), NAMED)
def test_too_many_are_not_looked_at(key: int, version: int) -> None:
    """Their number is known before the first one is read, so that a million of them cost nothing."""
    asked: list[str] = []

    def concerns(name: str) -> bool:
        asked.append(name)
        return False

    for count in (MOST, MOST + 1):
        frame = requested(key, version, ("x",) * count)
        walk = walked(NamedGroups(concerns, MOST, key, version), frame)
        assert (walk.count, walk.found) == (count, [])
    assert len(asked) == MOST


@every("version", frames.versions(DESCRIBE))
def test_other_groups_are_not_decoded(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group with thousands of members that is not hosted is not made into objects."""
    members = [member(f"m{number}", version) for number in range(2000)]
    large = {**group(DESCRIBE, version, "large", 0), "Members": members}
    frame = frames.response(DESCRIBE, version, 5, {"Groups": [large, group(DESCRIBE, version, "mine", 1)]})[4:]

    def refuse(*args: object) -> DescribedGroup:
        raise AssertionError("a group is decoded")

    monkeypatch.setattr(DescribedGroup, "read", refuse)
    walk = walked(make(DESCRIBE)(DESCRIBE, version), frame, 1000)
    assert ([one.group_id for one in walk.found], walk.count) == (["mine"], 2)


@pytest.mark.parametrize("version", [5, 6])
def test_too_many_tagged_fields(version: int) -> None:
    """Half a million of them in a request's header would take long: they are refused by their number."""
    section = uvarint(MAX_TAGS + 1) + b"\x09\0" * (MAX_TAGS + 1)
    frame = frames.raw_request(DESCRIBE, version, 5, b"\xff\xff" + section)[4:]
    with pytest.raises(MalformedMessageError, match="1001 tagged fields in a section; the limit is 1000"):
        walked(make(DESCRIBE, request=True)(DESCRIBE, version), frame)


def test_a_name_that_is_no_text() -> None:
    """It is nobody's of interest, and passes."""
    frame = requested(DESCRIBE, 0, ("xx",)).replace(b"xx", b"\xff\xfe")
    assert walked(make(DESCRIBE, request=True)(DESCRIBE, 0), frame).found == []
