"""kproxy.coordinator.apis.bounds: long lists are counted before they are decoded."""

from __future__ import annotations

import pytest

from kproxy.coordinator.apis.bounds import (
    MOST_LEAVING,
    MOST_PROTOCOLS,
    SPARE,
    decode_join,
    decode_leave,
    decoding_sync,
)
from kproxy.protocol.fault import Fault
from kproxy.wire.generated.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kproxy.wire.generated.leave_group_request import LeaveGroupRequest, MemberIdentity
from kproxy.wire.generated.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from tests.support.every import every
from tests.unit.coordinator.apis.admin_world import Groups

JOINS = range(JoinGroupRequest.max_version + 1)
SYNCS = range(SyncGroupRequest.max_version + 1)


def joining(count: int, version: int) -> memoryview:
    """A JoinGroup with so many protocols."""
    request = JoinGroupRequest("g", 1000, member_id="m", protocol_type="consumer")
    request.protocols = [JoinGroupRequestProtocol(f"p{number}", b"") for number in range(count)]
    return memoryview(request.encode(version))


@every("version", JOINS)
def test_protocols(version: int) -> None:
    """As many as a client may have; one more is refused."""
    assert len(decode_join(joining(MOST_PROTOCOLS, version), version).protocols) == MOST_PROTOCOLS
    with pytest.raises(Fault, match=f"{MOST_PROTOCOLS + 1} protocols in a request; the limit is {MOST_PROTOCOLS}"):
        decode_join(joining(MOST_PROTOCOLS + 1, version), version)


@pytest.mark.parametrize("version", range(3, LeaveGroupRequest.max_version + 1))
def test_leaving(version: int) -> None:
    """As many as are removed at a time; one more is refused."""

    def leaving(count: int) -> memoryview:
        members = [MemberIdentity(f"m{number}") for number in range(count)]
        return memoryview(LeaveGroupRequest("g", members=members).encode(version))

    assert len(decode_leave(leaving(MOST_LEAVING), version).members) == MOST_LEAVING
    with pytest.raises(Fault, match=f"{MOST_LEAVING + 1} members"):
        decode_leave(leaving(MOST_LEAVING + 1), version)


@pytest.mark.parametrize("version", range(3))
def test_one_that_leaves(version: int) -> None:
    """Older versions have no list."""
    assert decode_leave(memoryview(LeaveGroupRequest("g", "m").encode(version)), version).member_id == "m"


def syncing(member_id: str, count: int, version: int) -> memoryview:
    """A SyncGroup with so many assignments."""
    request = SyncGroupRequest("mine", 1, member_id)
    request.assignments = [SyncGroupRequestAssignment(f"m{number}", b"x") for number in range(count)]
    if version >= 5:
        request.protocol_type, request.protocol_name = "consumer", "range"
    return memoryview(request.encode(version))


@every("version", SYNCS)
def test_assignments(version: int) -> None:
    """The leader may send some more than there are members; those of others are not decoded where they are many."""
    world = Groups()
    world.stable("mine", "a", "b")
    group = world.coordinator.groups["mine"]
    assert group.leader is not None
    other = next(member for member in group.members if member != group.leader)
    decode, most = decoding_sync(world), len(group.members) + SPARE
    assert len(decode(syncing(group.leader, most, version), version).assignments) == most
    with pytest.raises(Fault, match=f"{most + 1} assignments"):
        decode(syncing(group.leader, most + 1, version), version)
    assert len(decode(syncing(other, SPARE, version), version).assignments) == SPARE
    many = decode(syncing(other, 10 * SPARE, version), version)
    assert (many.group_id, many.generation_id, many.member_id, many.assignments) == ("mine", 1, other, [])
    assert decode(syncing(other, 10 * SPARE, version), version).protocol_name == ("range" if version >= 5 else None)
    world.coordinator.groups.clear()
    assert decode(syncing(group.leader, 10 * SPARE, version), version).assignments == []
