"""The same requests to a broker's own coordinator and to kproxy's: the same answers, field by field.

Both groups are at one Kafka and both come through kproxy. What may differ is listed in docs/groups.md; nothing of it is
in these scenarios.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Final, TypeVar

import pytest

from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.find_coordinator_request import FindCoordinatorRequest
from kproxy.wire.generated.find_coordinator_response import FindCoordinatorResponse
from kproxy.wire.generated.heartbeat_request import HeartbeatRequest
from kproxy.wire.generated.heartbeat_response import HeartbeatResponse
from kproxy.wire.generated.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kproxy.wire.generated.join_group_response import JoinGroupResponse
from kproxy.wire.generated.leave_group_request import LeaveGroupRequest, MemberIdentity
from kproxy.wire.generated.leave_group_response import LeaveGroupResponse
from kproxy.wire.generated.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kproxy.wire.generated.offset_commit_response import OffsetCommitResponse
from kproxy.wire.generated.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kproxy.wire.generated.sync_group_response import SyncGroupResponse
from kproxy.wire.header import RequestHeader, decode_response_header, encode_request_header
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import frame
from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.raw import RawClient
from tests.support.wait import until

M = TypeVar("M", bound=WireMessage)
Seen = list[Any]
JOIN, SYNC, HEARTBEAT, LEAVE, COMMIT, FIND = 11, 14, 12, 13, 8, 10
OLD, NEW = "old", "new"
VERSIONS: Final = {
    OLD: {JOIN: 3, SYNC: 2, HEARTBEAT: 2, LEAVE: 2, COMMIT: 6},
    NEW: {JOIN: 9, SYNC: 5, HEARTBEAT: 4, LEAVE: 5, COMMIT: 9},
}
WIDE: Final = 9_000
"""The offsets in a commit of 160 KB."""
RANGE: Final = (("range", b"topics"),)


class Member:
    """One client on a connection of its own; a request that waits is asked and answered apart."""

    def __init__(self, scene: Scene, instance: str | None = None) -> None:
        self.scene, self.instance = scene, instance
        self.raw = scene.stack.enter_context(RawClient(scene.port, timeout=30))
        self.id, self.generation = "", -1
        self.behind = b""
        """What stands behind the last field of its requests, which nobody looks at."""

    def send(self, key: int, request: WireMessage) -> None:
        """Send a request."""
        version = self.scene.versions[key]
        head = encode_request_header(RequestHeader(key, version, 1, "same"))
        self.raw.socket.sendall(frame(head, request.encode(version), self.behind))

    def receive(self, key: int, kind: type[M]) -> M:
        """Take its response."""
        correlation_id, rest = self.raw.receive()
        body = correlation_id.to_bytes(4) + rest
        _, at = decode_response_header(body, 0, len(body), key, self.scene.versions[key])
        return kind.decode(memoryview(body)[at:], self.scene.versions[key])

    def join(self, **said: Any) -> None:
        """Ask to join; `joined` has the answer."""
        protocols = said.pop("protocols", RANGE)
        request = JoinGroupRequest(
            group_id=said.pop("group", self.scene.group),
            session_timeout_ms=said.pop("session", 10_000),
            rebalance_timeout_ms=said.pop("rebalance", 5_000),
            member_id=said.pop("member", self.id),
            group_instance_id=self.instance if self.scene.versions[JOIN] >= 5 else None,
            protocol_type=said.pop("type", "consumer"),
            protocols=[JoinGroupRequestProtocol(*each) for each in protocols],
        )
        assert not said
        self.send(JOIN, request)

    def joined(self) -> Seen:
        """The answer to a JoinGroup; an id that it gives is taken over."""
        answer = self.receive(JOIN, JoinGroupResponse)
        name = self.scene.name
        if answer.error_code in (0, 79):
            self.id = answer.member_id
        if not answer.error_code:
            self.generation = answer.generation_id
        members = sorted((name(one.member_id), one.group_instance_id, one.metadata) for one in answer.members)
        return [
            answer.error_code, answer.generation_id, answer.protocol_type, answer.protocol_name, name(answer.leader),
            answer.skip_assignment, name(answer.member_id), members,
        ]  # fmt: skip

    def enter(self, **said: Any) -> None:
        """Ask to join, in two steps where a new member is told its id first (KIP-394)."""
        self.join(**said)
        if self.scene.versions[JOIN] >= 4 and not self.id and self.instance is None:
            self.scene.see(self.joined())
            self.join(**said)

    def sync(self, assignments: dict[str, bytes] | None = None, **said: Any) -> None:
        """Ask for the assignment; `synced` has the answer."""
        request = SyncGroupRequest(
            self.scene.group,
            said.get("generation", self.generation),
            said.get("member", self.id),
            said.get("instance", self.instance) if self.scene.versions[SYNC] >= 3 else None,
            assignments=[SyncGroupRequestAssignment(*each) for each in (assignments or {}).items()],
        )
        if self.scene.versions[SYNC] >= 5:
            request.protocol_type, request.protocol_name = "consumer", said.get("protocol", "range")
        self.send(SYNC, request)

    def synced(self) -> Seen:
        """The answer to a SyncGroup."""
        answer = self.receive(SYNC, SyncGroupResponse)
        return [answer.error_code, answer.protocol_type, answer.protocol_name, answer.assignment]

    def heartbeat(self, **said: Any) -> int:
        """The error of a heartbeat."""
        request = HeartbeatRequest(
            self.scene.group, said.get("generation", self.generation), said.get("member", self.id),
            said.get("instance", self.instance) if self.scene.versions[HEARTBEAT] >= 3 else None,
        )  # fmt: skip
        self.send(HEARTBEAT, request)
        return self.receive(HEARTBEAT, HeartbeatResponse).error_code

    def disturbed(self) -> None:
        """Wait until the coordinator has seen what another member has sent by its own connection."""
        until(lambda: self.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS, "a rebalance")

    def leave(self, *leaving: tuple[str, str | None]) -> Seen:
        """The errors of a LeaveGroup."""
        many = self.scene.versions[LEAVE] >= 3
        gone = leaving or ((self.id, self.instance),)
        members = [MemberIdentity(*each) for each in gone] if many else []
        self.send(LEAVE, LeaveGroupRequest(self.scene.group, "" if many else gone[0][0], members))
        answer = self.receive(LEAVE, LeaveGroupResponse)
        shown = [(self.scene.name(one.member_id), one.group_instance_id, one.error_code) for one in answer.members]
        return [answer.error_code, shown]

    def commit(self, count: int = 1, **said: Any) -> Seen:
        """The errors of an OffsetCommit of one partition, which is named so many times."""
        partitions = [OffsetCommitRequestPartition(0, 5)] * count
        request = OffsetCommitRequest(
            said.get("group", self.scene.group),
            said.get("generation", self.generation),
            said.get("member", self.id),
            said.get("instance", self.instance) if self.scene.versions[COMMIT] >= 7 else None,
            topics=[OffsetCommitRequestTopic(self.scene.topic, partitions=partitions)],
        )
        self.send(COMMIT, request)
        answer = self.receive(COMMIT, OffsetCommitResponse)
        return [(each.partition_index, each.error_code) for topic in answer.topics for each in topic.partitions]


class Scene:
    """A group and its members, and all that they were answered, with member ids by the order in which they came."""

    def __init__(self, stack: ExitStack, proxy: Proxy, group: str, topic: str, age: str) -> None:
        self.stack, self.group, self.topic, self.versions = stack, group, topic, {**VERSIONS[age], FIND: 1}
        self.port = proxy.port()
        self.port = until(self._coordinator, f"a coordinator of {group}", timeout=60)
        self.seen: Seen = []
        self._names: dict[str, str] = {"": ""}

    def _coordinator(self) -> int:
        asking = Member(self)
        asking.generation = 0
        asking.send(FIND, FindCoordinatorRequest(key=self.group))
        found = asking.receive(FIND, FindCoordinatorResponse)
        # A broker that has just become one's coordinator reads its groups first.
        ready = not found.error_code and asking.heartbeat(member="nobody") == ErrorCode.UNKNOWN_MEMBER_ID
        return found.port if ready else 0

    def name(self, member_id: str) -> str:
        """A name for a member id that is the same at both coordinators."""
        return self._names.setdefault(member_id, f"member {len(self._names)}" if "-" in member_id else member_id)

    def see(self, *answers: Any) -> None:
        """Note answers."""
        self.seen.extend(answers)


def stable(scene: Scene, *members: Member) -> None:
    """Have members join one after the other, and become stable in one generation."""
    for member in members:
        member.enter()
        if member is not members[0]:
            members[0].disturbed()
        settled(scene, *members[: members.index(member) + 1])


def settled(scene: Scene, *members: Member) -> None:
    """Have the members that are there join again, the newest waits already; then all sync."""
    for member in members[:-1]:
        member.join()
    for member in members:
        scene.see(member.joined())
    assignments = {member.id: scene.name(member.id).encode() for member in members}
    for member in members:
        member.sync(assignments)
    for member in members:
        scene.see(member.synced())


def bytes_behind(scene: Scene) -> None:
    """A member's life, where each request goes on behind its last field."""
    one = Member(scene)
    one.behind = bytes(4)
    stable(scene, one)
    scene.see(one.heartbeat(), one.commit(), one.commit(WIDE), one.heartbeat(member="nobody"), one.leave())


def one_member(scene: Scene) -> None:
    """What a member is answered from the first request to the last, when it is right and when it is wrong."""
    one = Member(scene)
    scene.see(one.heartbeat(member="nobody"), one.commit(generation=3, member="nobody"))
    one.join(member="nobody-1")
    scene.see(one.joined())
    for wrong in ({"session": 100}, {"session": 10_000_000}, {"protocols": ()}, {"type": ""}):
        one.join(**wrong)
        scene.see(one.joined())
    stable(scene, one)
    for wrong in ({}, {"generation": 7}, {"generation": 0}, {"member": "nobody-1"}, {"member": ""}):
        scene.see(one.heartbeat(**wrong), one.commit(**wrong))
        one.sync(**wrong)
        scene.see(one.synced())
    one.join(protocols=(("other", b""),), member="")
    scene.see(one.joined())
    one.join(type="connect", member="")
    scene.see(one.joined())
    one.join()
    scene.see(one.joined(), one.heartbeat())
    one.sync({one.id: b"again"})
    scene.see(one.synced(), one.leave(("nobody-1", None)), one.leave(), one.leave(), one.heartbeat())
    scene.see(one.commit(), one.commit(generation=-1, member=""))


def three_members(scene: Scene) -> None:
    """Joins, changes and leaves of others, as each member sees them."""
    one, two, three = (Member(scene) for _ in range(3))
    stable(scene, one, two, three)
    scene.see(one.commit(), two.commit(), three.heartbeat())
    two.join(protocols=(("range", b"others"),))
    one.disturbed()
    scene.see(three.heartbeat(), one.commit())
    one.sync()
    scene.see(one.synced())
    one.join()
    three.join()
    for member in (one, two, three):
        scene.see(member.joined())
    two.sync()
    three.sync()
    scene.see(one.heartbeat(), one.commit())
    one.sync({one.id: b"1", two.id: b"2", "nobody-1": b"3"})
    for member in (one, two, three):
        scene.see(member.synced())
    two.join(protocols=(("range", b"others"),))
    scene.see(two.joined(), one.heartbeat())
    scene.see(three.leave(), one.heartbeat(), three.heartbeat())
    one.join()
    two.join(protocols=(("range", b"others"),))
    scene.see(one.joined(), two.joined())
    two.sync()
    scene.see(one.leave())
    scene.see(two.synced(), two.heartbeat())


def wide_commits(scene: Scene) -> None:
    """Commits that come in several reads: refused for every partition, accepted, and refused behind another request."""
    one = Member(scene)
    stable(scene, one)
    for wrong in ({"generation": 7}, {"member": "nobody-1"}, {"generation": -1, "member": ""}):
        scene.see(one.commit(WIDE, **wrong), one.heartbeat())
    scene.see(one.commit(WIDE))
    one.join(protocols=(("range", b"others"),))
    scene.see(one.joined(), one.commit(WIDE))
    one.sync()
    scene.see(one.synced(), one.commit(WIDE), one.leave(), one.commit(WIDE))


def protocols_change(scene: Scene) -> None:
    """A rolling upgrade from an old protocol to a new one: the old one until all are upgraded."""
    both, old = (("new", b"n"), ("old", b"o")), (("old", b"o"),)
    one, two = Member(scene), Member(scene)
    one.enter(protocols=old)
    scene.see(one.joined())
    one.sync({one.id: b"1"}, protocol="old")
    scene.see(one.synced())
    two.enter(protocols=both)
    one.disturbed()
    one.join(protocols=old)
    scene.see(one.joined(), two.joined())
    one.join(protocols=both)
    two.disturbed()
    two.join(protocols=both)
    scene.see(one.joined(), two.joined())


def static_members(scene: Scene) -> None:
    """A member with an instance id that comes back, under its id, without it, and twice (KIP-345)."""
    one, two = Member(scene, "first"), Member(scene, "second")
    stable(scene, one, two)
    again = Member(scene, "second")
    again.join()
    scene.see(again.joined(), two.heartbeat(), one.heartbeat(), two.commit())
    again.sync()
    scene.see(again.synced(), again.heartbeat(instance="third"), again.heartbeat(instance=None))
    two.sync()
    scene.see(two.synced())
    leader = Member(scene, "first")
    leader.join()
    scene.see(leader.joined(), again.heartbeat())
    changed = Member(scene, "second")
    changed.join(protocols=(("range", b"others"),))
    leader.disturbed()
    scene.see(leader.leave(("", "second"), ("", "nobody"), (two.id, "first")))


SCENARIOS: Final[tuple[tuple[Callable[[Scene], None], str], ...]] = (
    (bytes_behind, OLD),
    (bytes_behind, NEW),
    (one_member, OLD),
    (one_member, NEW),
    (three_members, OLD),
    (three_members, NEW),
    (wide_commits, OLD),
    (wide_commits, NEW),
    (protocols_change, NEW),
    (static_members, NEW),
)


@pytest.fixture(scope="module")
def proxy(newest_kafka: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """A kproxy that hosts the groups whose names begin with `hosted`, with the broker's own initial delay of 0."""
    rules = [{"match": "hosted-.*", "initial_rebalance_delay": 0, "min_session_timeout": "6s"}]
    servers = {"newest": newest_kafka.cluster.bootstrap}
    with Proxy(tmp_path_factory.mktemp("same"), servers, each={"groups": rules}) as made:
        yield made


@pytest.mark.parametrize(
    ("scenario", "age"), SCENARIOS, ids=[f"{scenario.__name__}-{age}" for scenario, age in SCENARIOS]
)
def test_the_same_answers(proxy: Proxy, newest_kafka: Backend, scenario: Callable[[Scene], None], age: str) -> None:
    """Error codes, generations, leaders, protocols, members and assignments, answer by answer."""
    topic, seen = newest_kafka.topic(1), {}
    for side in ("broker", "hosted"):
        with ExitStack() as stack:
            scene = Scene(stack, proxy, f"{side}-{scenario.__name__}-{age}", topic, age)
            scenario(scene)
            seen[side] = scene.seen
    assert len(seen["hosted"]) > 5
    assert seen["hosted"] == seen["broker"]
