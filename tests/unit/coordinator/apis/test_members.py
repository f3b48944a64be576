"""kproxy.coordinator.apis.members: JoinGroup, SyncGroup, Heartbeat and LeaveGroup on frames, in every version."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kproxy.wire.generated.heartbeat_request import HeartbeatRequest
from kproxy.wire.generated.heartbeat_response import HeartbeatResponse
from kproxy.wire.generated.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kproxy.wire.generated.join_group_response import JoinGroupResponse, JoinGroupResponseMember
from kproxy.wire.generated.leave_group_request import LeaveGroupRequest, MemberIdentity
from kproxy.wire.generated.leave_group_response import LeaveGroupResponse, MemberResponse
from kproxy.wire.generated.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kproxy.wire.generated.sync_group_response import SyncGroupResponse
from tests.support.every import every
from tests.unit.coordinator.apis.hosting import CLIENT, GROUP, Connection, Hosting, Response

JOINS, SYNCS, HEARTBEATS, LEAVES = range(10), range(6), range(5), range(6)
UNKNOWN, INCONSISTENT, INVALID_SESSION, REBALANCE, NEEDS_ID, FENCED = 25, 23, 26, 27, 79, 82
METADATA = bytes(range(200))
JOIN = JoinGroupRequest(
    GROUP,
    session_timeout_ms=10_000,
    rebalance_timeout_ms=60_000,
    protocol_type="consumer",
    protocols=[JoinGroupRequestProtocol("range", METADATA), JoinGroupRequestProtocol("sticky", b"")],
)


def join(connection: Connection, version: int, **said: object) -> Response[JoinGroupResponse]:
    """Send a JoinGroup request with what the version has, and a second one where an id is required."""
    request = replace(JOIN, **said)  # type: ignore[arg-type]
    if version < 1:
        request = replace(request, rebalance_timeout_ms=-1)
    response = connection.send(request, version, JoinGroupResponse)
    if not response.waits and response.body.error_code == NEEDS_ID:
        return join(connection, version, **said | {"member_id": response.body.member_id})
    return response


def stable(hosting: Hosting, *instances: str | None) -> list[JoinGroupResponse]:
    """A stable group of members with these instance ids, of which the first leads; their join responses."""
    joins = [join(Connection(hosting), 9, group_instance_id=each) for each in instances]
    hosting.wait(3.0 * len(joins))
    joined = [each.body for each in joins]
    for each in reversed(joined):
        sync(hosting, each, 5)
    return joined


def sync(hosting: Hosting, joined: JoinGroupResponse, version: int, **said: object) -> Response[SyncGroupResponse]:
    """Send a SyncGroup request of a member; a leader assigns each member its own id."""
    request = SyncGroupRequest(
        GROUP,
        joined.generation_id,
        joined.member_id,
        assignments=[SyncGroupRequestAssignment(one.member_id, one.member_id.encode()) for one in joined.members],
    )
    if version >= 5:
        request = replace(request, protocol_type="consumer", protocol_name="range")
    request = replace(request, **said)  # type: ignore[arg-type]
    return Connection(hosting).send(request, version, SyncGroupResponse)


@every("version", JOINS)
def test_a_member_that_leads(version: int) -> None:
    """All fields of the answer; the instance ids of others only where the version has them."""
    hosting = Hosting()
    response = join(Connection(hosting), version)
    other = join(Connection(hosting), 9, group_instance_id="i")
    assert response.waits
    hosting.wait(6.0)
    leader, follower = response.body, other.body
    assert leader == JoinGroupResponse(
        generation_id=1,
        protocol_type="consumer" if version >= 7 else None,
        protocol_name="range",
        leader=leader.member_id,
        member_id=leader.member_id,
        members=[
            JoinGroupResponseMember(leader.member_id, None, METADATA),
            JoinGroupResponseMember(follower.member_id, "i" if version >= 5 else None, METADATA),
        ],
    )
    assert (leader.member_id[:4], follower.member_id[:2]) == ("app-", "i-")


@every("version", JOINS)
def test_a_new_member_is_told_its_id_first_from_v4_on(version: int) -> None:
    """Before it joins at once (KIP-394)."""
    response = Connection(Hosting()).send(
        replace(JOIN, rebalance_timeout_ms=60_000 if version else -1), version, JoinGroupResponse
    )
    assert response.waits is (version < 4)
    if version >= 4:
        name = None if version >= 7 else ""
        assert response.body == JoinGroupResponse(error_code=NEEDS_ID, member_id="app-001", protocol_name=name)


@every("version", JOINS)
def test_what_a_member_says_of_itself(version: int) -> None:
    """Timeouts in milliseconds, of which v0 has one; the client's id and address as a broker shows them."""
    hosting = Hosting()
    join(Connection(hosting, "[2001:db8::7]:4711"), version)
    (member,) = hosting.coordinator.groups[GROUP].members.values()
    assert (member.session_timeout, member.rebalance_timeout) == (10.0, 60.0 if version >= 1 else 10.0)
    assert (member.client_id, member.client_host) == (CLIENT, "/2001:db8::7")
    assert member.protocols == (("range", METADATA), ("sticky", b""))


@every("version", JOINS)
def test_a_join_that_is_refused(version: int) -> None:
    """It names no protocol: "" below v7, null from there on."""
    for said, error in (
        ({"session_timeout_ms": 1}, INVALID_SESSION),
        ({"protocols": []}, INCONSISTENT),
        ({"member_id": "ghost"}, UNKNOWN),
    ):
        body = join(Connection(Hosting()), version, **said).body
        assert body == JoinGroupResponse(
            error_code=error,
            member_id=str(said.get("member_id", "")),
            protocol_name=None if version >= 7 else "",
        )


@pytest.mark.parametrize("version", range(5, 10))
def test_a_static_leader_that_comes_back(version: int) -> None:
    """From v9 on it leads and skips the assignment; below, the old leader's id is named."""
    hosting = Hosting()
    old, _ = stable(hosting, "i", None)
    body = join(Connection(hosting), version, group_instance_id="i").body
    assert (body.error_code, body.skip_assignment, body.member_id != old.member_id) == (0, version >= 9, True)
    assert body.leader == (body.member_id if version >= 9 else old.leader)
    assert len(body.members) == (2 if version >= 9 else 0)


@pytest.mark.parametrize("version", SYNCS)
def test_a_sync_gets_the_members_own_assignment(version: int) -> None:
    """A follower waits for the leader; the protocol is named from v5 on."""
    hosting = Hosting()
    joins = [join(Connection(hosting), 9) for _ in range(2)]
    hosting.wait(6.0)
    leader, follower = (each.body for each in joins)
    waiting = sync(hosting, follower, version)
    assert waiting.waits
    for joined, response in ((leader, sync(hosting, leader, version)), (follower, waiting)):
        assert response.body == SyncGroupResponse(
            protocol_type="consumer" if version >= 5 else None,
            protocol_name="range" if version >= 5 else None,
            assignment=joined.member_id.encode(),
        )


@pytest.mark.parametrize("version", SYNCS)
def test_a_sync_that_is_refused(version: int) -> None:
    """It has an error and no assignment; a static member is fenced from v3 on, where its instance is named."""
    hosting = Hosting()
    one, _ = stable(hosting, "i", "j")
    assert sync(hosting, one, version, member_id="ghost").body == SyncGroupResponse(error_code=UNKNOWN)
    assert sync(hosting, one, version, generation_id=9).body == SyncGroupResponse(error_code=22)
    if version >= 3:
        assert sync(hosting, one, version, group_instance_id="j").body == SyncGroupResponse(error_code=FENCED)


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"protocol_type": None}, INCONSISTENT),
        ({"protocol_name": None}, INCONSISTENT),
        ({"protocol_type": "connect"}, INCONSISTENT),
        ({"protocol_name": "sticky"}, INCONSISTENT),
        ({}, 0),
    ],
)
def test_a_sync_names_its_protocol_from_v5_on(said: dict[str, str | None], error: int) -> None:
    """Another one than the group's, or none, is refused."""
    hosting = Hosting()
    one, _ = stable(hosting, None, None)
    assert sync(hosting, one, 5, **said).body.error_code == error


@pytest.mark.parametrize("version", HEARTBEATS)
def test_heartbeats(version: int) -> None:
    """Each error of the coordinator, and fencing from v3 on."""
    hosting = Hosting()
    one, two = stable(hosting, "i", "j")

    def beat(**said: object) -> int:
        request = HeartbeatRequest(GROUP, one.generation_id, one.member_id)
        request = replace(request, **said)  # type: ignore[arg-type]
        return Connection(hosting).send(request, version, HeartbeatResponse).body.error_code

    assert [beat(), beat(generation_id=9), beat(member_id="ghost")] == [0, 22, UNKNOWN]
    if version >= 3:
        assert [beat(group_instance_id="i"), beat(group_instance_id="j")] == [0, FENCED]
    join(Connection(hosting), 9, member_id=two.member_id, protocols=[JoinGroupRequestProtocol("range", b"new")])
    assert beat() == REBALANCE


@pytest.mark.parametrize("version", LEAVES[:3])
def test_one_member_leaves_up_to_v2(version: int) -> None:
    """Its error is at the top."""
    hosting = Hosting()
    one, two = stable(hosting, None, None)

    def leave(member_id: str, group_id: str = GROUP) -> LeaveGroupResponse:
        return Connection(hosting).send(LeaveGroupRequest(group_id, member_id), version, LeaveGroupResponse).body

    assert leave(two.member_id) == LeaveGroupResponse()
    assert leave(two.member_id) == LeaveGroupResponse(error_code=UNKNOWN)
    assert leave(one.member_id, "hosted-2") == LeaveGroupResponse(error_code=UNKNOWN)
    assert list(hosting.coordinator.groups[GROUP].members) == [one.member_id]


@pytest.mark.parametrize("version", LEAVES[3:])
def test_many_members_leave_from_v3_on(version: int) -> None:
    """Each has its own error, and 0 is at the top, also of a group that is not there."""
    hosting = Hosting()
    one, two, three = stable(hosting, None, "i", "j")
    reason = "done" if version >= 5 else None
    leaving = [
        MemberIdentity(one.member_id, None, reason),
        MemberIdentity("", "i", reason),
        MemberIdentity("stale", "j", reason),
        MemberIdentity(one.member_id, None, reason),
    ]
    expected = [
        MemberResponse(one.member_id, None),
        MemberResponse("", "i"),
        MemberResponse("stale", "j", FENCED),
        MemberResponse(one.member_id, None, UNKNOWN),
    ]
    connection = Connection(hosting)
    response = connection.send(LeaveGroupRequest(GROUP, members=leaving), version, LeaveGroupResponse)
    assert response.body == LeaveGroupResponse(members=expected)
    assert list(hosting.coordinator.groups[GROUP].members) == [three.member_id]
    assert two.member_id not in hosting.coordinator.groups[GROUP].members
    response = connection.send(LeaveGroupRequest("hosted-2", members=leaving[:1]), version, LeaveGroupResponse)
    assert response.body == LeaveGroupResponse(members=[MemberResponse(one.member_id, None, UNKNOWN)])
