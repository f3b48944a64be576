"""Statements 8-29 of seed 000: joins, syncs, protocols and assignments of a group whose coordinator lives."""

from __future__ import annotations

import pytest

from kproxy.coordinator.messages import JoinedMember, Protocols
from kproxy.coordinator.settings import GroupSettings
from kproxy.coordinator.states import Cause, GroupState
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.coordinator.world import REBALANCE, SESSION, Client, World

UNKNOWN, ILLEGAL, AGAIN, INCONSISTENT = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
)


def grown(*names: str, **said: object) -> tuple[World, list[Client]]:
    """A stable group of these clients; the first one leads."""
    world = World()
    clients = world.clients(*names, **said)
    world.stable(*clients)
    return world, clients


def awaiting_sync(*names: str, **said: object) -> tuple[World, list[Client]]:
    """A group of these clients that all have joined; none has synced."""
    world, clients = grown(*names, **said)
    for client in clients:
        client.join()
    assert (world.state, clients[0].leads) == (GroupState.COMPLETING, True)
    return world, clients


def test_statement_08_a_join_waits_for_the_previous_generation() -> None:
    """The newcomer is answered with the last of the others."""
    world, (one, two) = grown("one", "two")
    (new,) = world.clients("new")
    waiting = [new.join(), one.join()]
    assert [each.waits for each in waiting] == [True, True]
    waiting.append(two.join())
    assert [each.answer.generation for each in waiting] == [2, 2, 2]


def test_statement_08_or_until_those_timed_out() -> None:
    """Who does not join within the rebalance timeout is out, and is told so by its next request."""
    world, (one, two) = grown("one", "two", session=2 * REBALANCE)
    (new,) = world.clients("new")
    waiting = [new.join(), one.join()]
    world.wait(REBALANCE - 1)
    assert [each.waits for each in waiting] == [True, True]
    world.wait(1)
    assert [each.answer.generation for each in waiting] == [2, 2]
    assert {each.member_id for each in one.joined.members} == {one.member_id, new.member_id}
    assert two.heartbeat() == UNKNOWN
    assert world.moves[-1] == (GroupState.PREPARING, GroupState.COMPLETING, Cause.JOIN_TIMED_OUT, (two.member_id,))


def test_statement_09_a_heartbeat_or_sync_while_members_join() -> None:
    """Both are told that a rebalance is in progress."""
    world, (one, two) = grown("one", "two")
    world.clients("new")[0].join()
    assert [one.heartbeat(), two.heartbeat(), one.sync().error, two.sync().error] == [AGAIN] * 4


def test_statement_10_the_old_generation_commits_until_the_new_one_begins() -> None:
    """Its number counts while members join, and no longer once all have joined."""
    world, (one, two) = grown("one", "two")
    old = one.generation
    world.clients("new")[0].join()
    one.join()
    assert (world.group.generation, one.commit(), two.commit()) == (old, 0, 0)
    two.join()
    assert (world.group.generation, world.commit(one.member_id, old)) == (old + 1, ILLEGAL)


def test_statement_11_a_session_that_ends_while_syncs_are_awaited() -> None:
    """Each member has a session of its own from the answer to its join on; any end of one is a rebalance."""
    world, (one, two, three) = awaiting_sync("one", "two", "three")
    waiting = two.sync()
    world.wait(SESSION - 1)
    one.heartbeat()
    assert (world.state, waiting.waits) == (GroupState.COMPLETING, True)
    world.wait(1)
    assert (world.state, waiting.error, three.heartbeat()) == (GroupState.PREPARING, AGAIN, UNKNOWN)
    assert world.moves[-1].cause is Cause.SESSION_TIMEOUT


def test_statement_12_the_leaders_session_ends_before_its_sync() -> None:
    """The generation is over, and all others join again, under another leader."""
    world, (one, two, three) = awaiting_sync("one", "two", "three")
    waiting = [two.sync(), three.sync()]
    world.wait(SESSION)
    assert [each.error for each in waiting] == [AGAIN, AGAIN]
    two.join(), three.join()
    assert (two.leads, two.generation, one.heartbeat()) == (True, 3, UNKNOWN)
    world.settle([two, three])


def test_statement_13_a_leader_that_cannot_assign() -> None:
    """It leaves, or joins in another way: the generation is over, and who waits for an assignment is told to join."""
    world, (one, two) = awaiting_sync("one", "two")
    waiting = two.sync()
    one.leave()
    assert (waiting.error, world.state) == (AGAIN, GroupState.PREPARING)

    world, (one, two) = awaiting_sync("one", "two")
    waiting = two.sync()
    one.protocols = (("range", b"other topics"),)
    one.join()
    assert (waiting.error, world.state) == (AGAIN, GroupState.PREPARING)


def test_statement_14_a_followers_sync_waits_for_the_leaders() -> None:
    """It is answered with the leader's, and never before."""
    world, (one, two) = awaiting_sync("one", "two")
    waiting = two.sync()
    world.wait(SESSION / 2)
    one.heartbeat()
    assert waiting.waits
    one.sync()
    assert waiting.answer.assignment == one.assigned(two.member_id)


def test_statement_14_or_until_the_leader_timed_out() -> None:
    """A leader that only sends heartbeats is out after one rebalance timeout; its followers are told to join."""
    world, (one, two) = awaiting_sync("one", "two")
    waiting = two.sync()
    for _ in range(int(REBALANCE / 5)):
        assert one.heartbeat() == 0
        assert waiting.waits
        world.wait(5)
    assert (waiting.error, one.heartbeat(), world.moves[-1].cause) == (AGAIN, UNKNOWN, Cause.NOT_SYNCED)


def test_statement_15_a_late_followers_sync_is_answered_at_once() -> None:
    """The assignments are kept as long as the generation: a member that lives can ask at any time, and again."""
    world, (one, two) = awaiting_sync("one", "two")
    one.sync()
    world.wait(SESSION - 1)
    one.heartbeat()
    assert two.sync().answer.assignment == one.assigned(two.member_id)
    for _ in range(100):
        world.wait(SESSION / 2)
        assert [one.heartbeat(), two.heartbeat()] == [0, 0]
    assert two.sync().answer.assignment == one.assigned(two.member_id)


def test_statement_16_a_member_that_dies_before_it_has_its_assignment() -> None:
    """Its session ends, and the others share its part."""
    world, (one, two) = awaiting_sync("one", "two")
    one.sync()
    world.wait(SESSION - 1)
    assert (one.heartbeat(), world.state) == (0, GroupState.STABLE)
    world.wait(1)
    assert one.heartbeat() == AGAIN
    one.join()
    assert [each.member_id for each in one.joined.members] == [one.member_id]
    world.settle([one])
    assert two.sync().error == UNKNOWN


def test_statement_17_an_unexpected_request_while_syncs_are_awaited() -> None:
    """A commit is told that a rebalance is in progress; a heartbeat gets 0, for real clients send them by then."""
    _, (one, two) = awaiting_sync("one", "two")
    assert [one.commit(), two.commit()] == [AGAIN, AGAIN]
    assert [one.heartbeat(), two.heartbeat()] == [0, 0]


def test_statement_18_only_the_leader_sees_the_members() -> None:
    """With each one's metadata of the chosen protocol, not of others; the first that joined leads."""
    protocols: list[Protocols] = [(("range", b"1"), ("sticky", b"x")), (("sticky", b"y"), ("range", b"2"))]
    world = World()
    clients = [Client(world, name, protocols=each) for name, each in zip(("one", "two"), protocols, strict=True)]
    clients.append(Client(world, "three", protocols=(("range", b"3"),)))
    world.stable(*clients)
    one, two, three = clients
    assert [client.joined.protocol_name for client in clients] == ["range"] * 3
    assert [client.joined.leader for client in clients] == [one.member_id] * 3
    assert one.joined.members == (
        JoinedMember(one.member_id, None, b"1"),
        JoinedMember(two.member_id, None, b"2"),
        JoinedMember(three.member_id, None, b"3"),
    )
    assert (two.joined.members, three.joined.members) == ((), ())


def test_statement_18_a_random_leader() -> None:
    """On request, any member that has joined leads, another one in each generation."""
    asked: list[list[str]] = []

    def choose(ids: object) -> str:
        assert isinstance(ids, list)
        asked.append(ids)
        return str(ids[len(asked) % len(ids)])

    world = World(GroupSettings(leader="random"), choose)
    one, two = world.clients("one", "two")
    world.stable(one, two)
    first = (one.leads, two.leads)
    for client in sorted((one, two), key=lambda each: each.leads, reverse=True):
        client.join()
    world.settle([one, two])
    assert asked == [[one.member_id, two.member_id]] * 2
    assert (first, (one.leads, two.leads)) == ((False, True), (True, False))


def test_statement_19_no_common_protocol() -> None:
    """A newcomer that shares none with all members is refused, and the group goes on undisturbed."""
    world, (one, two) = grown("one", "two", protocols=(("range", b""), ("sticky", b"")))
    refused: list[Protocols] = [(("roundrobin", b""),), ()]
    for protocols in refused:
        (new,) = world.clients("new", protocols=protocols)
        assert new.join().error == INCONSISTENT
    assert world.clients("new", protocol_type="connect")[0].join().error == INCONSISTENT
    assert (one.heartbeat(), two.heartbeat(), world.state) == (0, 0, GroupState.STABLE)
    (new,) = world.clients("new", protocols=(("roundrobin", b""), ("sticky", b"")))
    new.join(), one.join(), two.join()
    assert [client.joined.protocol_name for client in (new, one, two)] == ["sticky"] * 3


def test_statement_20_a_rolling_upgrade() -> None:
    """The old protocol until the last member is upgraded, then the new one that they prefer."""
    world, clients = grown("one", "two", "three", protocols=(("old", b""),))
    for upgraded in clients:
        assert [client.joined.protocol_name for client in clients] == ["old"] * 3
        upgraded.protocols = (("new", b""), ("old", b""))
        for client in (upgraded, *clients):
            if world.state is not GroupState.COMPLETING:
                client.join()
        world.settle(clients)
    assert [client.joined.protocol_name for client in clients] == ["new"] * 3


@pytest.mark.parametrize(
    ("preferences", "chosen"),
    [
        (["AB", "BA"], {"A", "B"}),
        (["AB", "AB"], {"A"}),
        (["BA", "AB", "AB"], {"A"}),
        (["CAB", "CBA", "BA"], {"A", "B"}),
        (["CBA", "AB", "BA"], {"B"}),
    ],
)
def test_statement_21_each_member_votes_for_its_first_candidate(preferences: list[str], chosen: set[str]) -> None:
    """The protocol with most votes among those that all support."""
    world = World()
    clients = [Client(world, "c", protocols=tuple((name, b"") for name in names)) for names in preferences]
    world.stable(*clients)
    assert {client.joined.protocol_name for client in clients} <= chosen
    assert len({client.joined.protocol_name for client in clients}) == 1


def test_statement_22_the_leader_fails() -> None:
    """All join again under a new leader, the one that has been there longest."""
    world, (one, two, three) = grown("one", "two", "three")
    world.wait(SESSION - 1)
    two.heartbeat(), three.heartbeat()
    world.wait(1)
    assert [one.heartbeat(), two.heartbeat(), three.heartbeat()] == [UNKNOWN, AGAIN, AGAIN]
    three.join(), two.join()
    assert (two.leads, three.leads, two.generation) == (True, False, 2)
    world.settle([two, three])


def test_statement_23_a_subscription_changes() -> None:
    """The member joins; the others' heartbeats tell them to."""
    world, (one, two) = grown("one", "two")
    two.protocols = (("range", b"more topics"),)
    waiting = two.join()
    assert (waiting.waits, one.heartbeat(), world.moves[-1].cause) == (True, AGAIN, Cause.METADATA_CHANGED)
    one.join()
    assert [each.metadata for each in one.joined.members] == [b"topics", b"more topics"]
    assert waiting.answer.generation == 2


def test_statement_24_topic_metadata_changes() -> None:
    """The leader joins again, with the same subscription, and a new assignment begins."""
    world, (one, two) = grown("one", "two")
    waiting = one.join()
    assert (waiting.waits, two.heartbeat(), world.moves[-1].cause) == (True, AGAIN, Cause.LEADER_JOINED)
    two.join()
    world.settle([one, two])
    assert two.sync().answer.assignment == f"{two.member_id} in 2".encode()


def test_statement_25_a_followers_assignments_are_ignored() -> None:
    """The leader's count, whoever comes first."""
    world, (one, two) = awaiting_sync("one", "two")
    waiting = two.sync({one.member_id: b"mine", two.member_id: b"mine"})
    assert waiting.waits
    assert one.sync().answer.assignment == one.assigned(one.member_id)
    assert waiting.answer.assignment == one.assigned(two.member_id)
    assert two.sync({two.member_id: b"mine"}).answer.assignment == one.assigned(two.member_id)
    assert world.state is GroupState.STABLE


def test_statement_26_a_commit_is_fenced_by_member_and_generation_only() -> None:
    """The coordinator asks for no partition: any commit of a member of the present generation is accepted."""
    _, (one, two) = grown("one", "two")
    assert [one.commit(), two.commit()] == [0, 0]


@pytest.mark.parametrize("protocol_type", ["connect", "stream", "single-writer"])
def test_statement_27_any_protocol_type_round_trips(protocol_type: str) -> None:
    """Metadata and assignments are bytes that pass untouched, whatever they mean."""
    every_byte = bytes(range(256))
    world = World()
    one, two = world.clients("one", "two", protocol_type=protocol_type, protocols=(("own", every_byte),))
    one.join(), two.join()
    world.wait(10)
    assert {client.joined.protocol_type for client in (one, two)} == {protocol_type}
    assert [each.metadata for each in one.joined.members] == [every_byte] * 2
    waiting = two.sync()
    one.sync({two.member_id: every_byte * 3})
    assert (waiting.answer.assignment, waiting.answer.protocol_type) == (every_byte * 3, protocol_type)
    assert one.sync().answer.assignment == b"", "as for the loser of an election"


def test_statement_28_differing_subscriptions() -> None:
    """The leader sees each one's own metadata with its user data; each gets only what it was assigned."""
    world = World()
    clients = [Client(world, name, protocols=(("range", name.encode() + b"\x00user data"),)) for name in "abc"]
    for client in clients:
        client.join()
    world.wait(10)
    seen = {each.member_id: each.metadata for each in clients[0].joined.members}
    assert seen == {client.member_id: client.protocols[0][1] for client in clients}
    world.settle(clients)
    assert [client.sync().answer.assignment for client in clients] == [
        clients[0].assigned(client.member_id) for client in clients
    ]


def test_statement_29_a_member_that_notices_stale_metadata_triggers_the_rebalance() -> None:
    """A follower joins with other metadata; one with the same only gets the present generation again."""
    world, (one, two) = grown("one", "two")
    assert two.join().answer.generation == 1
    assert (world.state, one.heartbeat()) == (GroupState.STABLE, 0)
    two.protocols = (("range", b"topics with more partitions"),)
    two.join()
    assert (world.state, one.heartbeat()) == (GroupState.PREPARING, AGAIN)
