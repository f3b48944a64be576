"""kproxy.coordinator.apis.newer_groups: an id has members at the broker, or members that kproxy coordinates."""

from __future__ import annotations

from typing import Final

import pytest

from kproxy.coordinator.newer_members import SESSION
from kproxy.errors import MalformedMessageError
from kproxy.observe.counters import ApiCounters
from kproxy.protocol.answer import response_frame
from kproxy.protocol.api_table import Route
from kproxy.protocol.group_errors import AT_THE_TOP
from kproxy.protocol.outcomes import AskBroker
from kproxy.wire.apis import APIS
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse
from kproxy.wire.generated.join_group_response import JoinGroupResponse
from kproxy.wire.generated.share_group_heartbeat_response import ShareGroupHeartbeatResponse
from kproxy.wire.generated.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse
from kproxy.wire.header import RequestHeader, decode_response_header
from kproxy.wire.writer import Writer
from tests.support.every import every
from tests.unit.coordinator.apis.hosting import CLIENT, GROUP, ID, OTHER, SIZE, UNKNOWN, Connection, Hosting
from tests.unit.coordinator.apis.test_commits import hosting
from tests.unit.coordinator.apis.test_members import JOIN
from tests.unit.coordinator.world import Client

Heartbeat = ConsumerGroupHeartbeatResponse | ShareGroupHeartbeatResponse | StreamsGroupHeartbeatResponse
RESPONSES: Final[dict[int, type[Heartbeat]]] = {
    ApiKey.CONSUMER_GROUP_HEARTBEAT: ConsumerGroupHeartbeatResponse,
    ApiKey.SHARE_GROUP_HEARTBEAT: ShareGroupHeartbeatResponse,
    ApiKey.STREAMS_GROUP_HEARTBEAT: StreamsGroupHeartbeatResponse,
}
EVERY = [(key, version) for key in RESPONSES for version in range(APIS[key].min_version, APIS[key].max_version + 1)]
NONE, FORBIDDEN, INCONSISTENT, FENCED = 0, 30, 23, 110
LEAVES, LEAVES_FOR_NOW = -1, -2
REST: Final = b"whatever a version has behind these"


def said(group_id: str = GROUP, member_id: str = "me", epoch: int = 3) -> bytes:
    """The body of a heartbeat; kproxy reads no more of it than its head."""
    writer = Writer()
    writer.string(group_id, True)
    writer.string(member_id, True)
    writer.int32(epoch)
    return writer.value() + REST


class Member:
    """A member of a newer group, and its broker."""

    def __init__(self, world: Hosting, key: int, version: int) -> None:
        self.connection, self.key, self.version = Connection(world), key, version
        policy = world.handlers[key]
        assert policy.response is not None
        self._respond = policy.response(Route(APIS[key], version, policy, ApiCounters(key, version)))

    def ask(self, epoch: int = 3, member_id: str = "me", group_id: str = GROUP) -> None:
        """Send a heartbeat, which goes to the broker as it is."""
        assert self.connection.outcome(self.key, self.version, said(group_id, member_id, epoch)) is None

    def answer(self, error: int = NONE, issued: str = "me", correlation_id: int = ID) -> None:
        """Have the broker answer, which goes to the client as it is."""
        answer = RESPONSES[self.key](error_code=error, member_id=issued, member_epoch=4)
        frame = response_frame(RequestHeader(self.key, self.version, correlation_id, CLIENT), answer)
        assert self._respond(self.connection.context, memoryview(frame)[SIZE:]) is None

    def beat(self, epoch: int = 3, member_id: str = "me", issued: str = "me", error: int = NONE) -> None:
        """Do both."""
        self.ask(epoch, member_id)
        self.answer(error, issued)

    def refused(self, permits: int = UNKNOWN) -> Heartbeat:
        """The answer to a heartbeat that kproxy itself refuses, once the broker was asked whether it may say so."""
        outcome = self.connection.outcome(self.key, self.version, said(epoch=0))
        assert isinstance(outcome, AskBroker)
        answer = self.connection._asked(outcome, permits).frame
        assert answer is not None
        correlation_id, body = decode_response_header(answer, SIZE, len(answer), self.key, self.version)
        assert correlation_id == ID
        return RESPONSES[self.key].decode(answer[body:], self.version)


def joined(world: Hosting) -> int:
    """The error of a classic member's first JoinGroup; 79 where it may go on."""
    return Connection(world).send(JOIN, 9, JoinGroupResponse).body.error_code


@every(("key", "version"), EVERY)
def test_who_joins_a_group_with_members_at_the_broker_is_refused(key: int, version: int) -> None:
    """While they are there; it is reported which group that is."""
    world = Hosting()
    member = Member(world, key, version)
    member.beat(epoch=0)
    assert (joined(world), world.clashes) == (INCONSISTENT, [(GROUP, "a member of the classic protocol")])
    assert world.coordinator.groups == {}
    world.now += SESSION - 1
    member.beat()
    world.now += SESSION - 1
    assert joined(world) == INCONSISTENT
    world.now += 1
    assert joined(world) == 79


@every(("key", "version"), EVERY)
def test_when_a_group_is_free_again(key: int, version: int) -> None:
    """When its member has left, and the broker does not have it. Who is fenced, or away for now, comes back."""
    for epoch, error, after in [
        (LEAVES, NONE, 79),
        (LEAVES, UNKNOWN, 79),
        (LEAVES, 69, 79),
        (LEAVES, 15, INCONSISTENT),
        (LEAVES_FOR_NOW, NONE, INCONSISTENT),
        (3, UNKNOWN, INCONSISTENT),
        (3, FENCED, INCONSISTENT),
        (3, 15, INCONSISTENT),
    ]:
        world = Hosting()
        member = Member(world, key, version)
        member.beat()
        member.beat(epoch=epoch, error=error)
        assert joined(world) == after, (epoch, error)


@every(("key", "version"), EVERY)
def test_what_the_broker_refuses_makes_nobody_a_member(key: int, version: int) -> None:
    """Else anybody could lock a group by heartbeats for which he is not authorized."""
    world = Hosting()
    Member(world, key, version).beat(epoch=0, error=FORBIDDEN)
    assert joined(world) == 79


def test_a_member_whose_id_the_broker_makes() -> None:
    """ConsumerGroupHeartbeat v0 joins without one; it leaves with the one that it was given."""
    world = Hosting()
    member = Member(world, ApiKey.CONSUMER_GROUP_HEARTBEAT, 0)
    member.beat(epoch=0, member_id="", issued="given")
    assert joined(world) == INCONSISTENT
    member.beat(epoch=LEAVES, member_id="given", issued="given")
    assert joined(world) == 79


@every(("key", "version"), EVERY)
def test_a_newer_member_of_a_group_with_members_here_is_refused(key: int, version: int) -> None:
    """With the reason; the members that are there go on."""
    world, leader = hosting()
    member = Member(world, key, version)
    answer = member.refused()
    assert answer.error_code == INCONSISTENT
    assert answer.error_message is not None
    assert "live members of the classic protocol" in answer.error_message
    assert world.clashes == [(GROUP, "a member of a KIP-848, share or Streams group")]
    assert leader.heartbeat() == NONE
    member.beat(epoch=LEAVES)  # of one that is at the broker nevertheless: it is never refused
    assert leader.heartbeat() == NONE


@every(("key", "version"), EVERY)
def test_a_hosted_group_gives_way_to_members_that_the_broker_has(key: int, version: int) -> None:
    """They were there before, though kproxy did not know: after a restart, or while a classic member joined."""
    for epoch in (0, 3):
        world = Hosting()
        member = Member(world, key, version)
        member.ask(epoch=epoch)
        leader = Client(world, "one", group_id=GROUP)
        leader.join()
        member.answer()
        world.wait(0)
        assert world.clashes == [(GROUP, "a member of the classic protocol")]
        assert leader.heartbeat() == UNKNOWN
        assert joined(world) == INCONSISTENT


@every(("key", "version"), EVERY)
def test_answers_belong_to_their_heartbeats(key: int, version: int) -> None:
    """A client that uses a correlation id twice has no answer count for another group, which the broker refuses it."""
    world = Hosting()
    member = Member(world, key, version)
    member.ask(group_id=OTHER)
    member.ask(epoch=0)
    member.answer()
    member.answer(error=FORBIDDEN)
    member.answer()  # which nobody asked for
    assert joined(world) == 79
    member.ask()
    member.answer(correlation_id=ID + 1)
    assert joined(world) == 79


@every(("key", "version"), EVERY)
def test_long_names_are_not_noted(key: int, version: int) -> None:
    """A client could have kproxy hold them. An empty group here ends all the same."""
    world, leader = hosting()
    leader.leave()
    Member(world, key, version).beat(member_id="m" * 257, issued="m" * 257)
    world.wait(0)
    assert (len(world.coordinator.newer), world.coordinator.groups) == (0, {})


def test_a_group_that_gives_way_while_its_assignments_are_being_stored() -> None:
    """Their end changes nothing, whether they are kept or not."""
    for failure in (None, "the disk is full"):
        world = Hosting()
        leader = Client(world, "one", group_id=GROUP)
        leader.join()
        world.wait(3.0)
        world.journal.holds = True
        synced = leader.sync()
        world.coordinator.give_way(GROUP, world.now)
        world.wait(0)
        assert synced.error == UNKNOWN
        world.finish(failure)
        assert world.coordinator.groups == {}
        assert failure or world.journal.kept == {}


@every(("key", "version"), EVERY)
def test_who_may_not_read_the_group_is_not_told_of_its_members(key: int, version: int) -> None:
    """He gets his broker's error."""
    world, _ = hosting()
    expected = AT_THE_TOP[key](version, FORBIDDEN)
    assert (Member(world, key, version).refused(permits=FORBIDDEN), world.clashes) == (expected, [])


@every(("key", "version"), EVERY)
def test_an_empty_group_here_ends_when_a_newer_member_joins(key: int, version: int) -> None:
    """So its id has one group, the broker's, whose commits are fenced there."""
    world, leader = hosting()
    leader.leave()
    member = Member(world, key, version)
    member.beat(epoch=0, error=15)
    assert GROUP in world.coordinator.groups
    member.beat(epoch=0)
    world.wait(0)
    assert world.coordinator.groups == {}


@every(("key", "version"), EVERY)
def test_a_heartbeat_of_another_group_passes(key: int, version: int) -> None:
    """No rule matches it, and nothing is noted."""
    world = Hosting()
    member = Member(world, key, version)
    member.ask(group_id=OTHER)
    member.answer()
    assert len(world.coordinator.newer) == 0


@every(("key", "version"), EVERY)
def test_a_heartbeat_or_an_answer_that_is_cut_short(key: int, version: int) -> None:
    """It is malformed."""
    connection = Connection(Hosting())
    body = said()[: -len(REST)]
    for size in range(len(body)):
        with pytest.raises(MalformedMessageError):
            connection.outcome(key, version, body[:size])
    frame = response_frame(RequestHeader(key, version, ID, CLIENT), RESPONSES[key](member_id="me"))[SIZE:]
    member = Member(Hosting(), key, version)
    for size in range(5, 5 + 4 + 2 + 1 + 3):
        member.ask()
        with pytest.raises(MalformedMessageError):
            member._respond(member.connection.context, memoryview(frame[:size]))
