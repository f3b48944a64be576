"""kproxy.coordinator.apis.commits: OffsetCommit and TxnOffsetCommit of hosted groups on frames, in every version."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.protocol.outcomes import Answer, Forward
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kproxy.wire.generated.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kproxy.wire.generated.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kproxy.wire.generated.txn_offset_commit_response import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from kproxy.wire.primitives import INT16
from kproxy.wire.primitives import frame as framed
from tests.support.every import every
from tests.unit.coordinator.apis.hosting import GROUP, OTHER, Connection, Hosting, Response, head
from tests.unit.coordinator.world import Client

COMMITS, IN_TRANSACTIONS = range(1, 11), range(3, 7)
OFFSET, TXN = ApiKey.OFFSET_COMMIT, ApiKey.TXN_OFFSET_COMMIT
UNKNOWN, ILLEGAL, REBALANCE, NOT_FOUND, FENCED = 25, 22, 27, 69, 82
TOPIC = UUID(int=0x1234)
TAGS = b"\x01\x63\x03abc"
"""Tagged fields that a future client may send: one, with tag 99."""


def commit(version: int, group_id: str = GROUP) -> OffsetCommitRequest:
    """A commit of nobody with all that the version has."""
    partitions = [
        OffsetCommitRequestPartition(3, 2**40, 5 if version >= 6 else -1, committed_metadata="why"),
        OffsetCommitRequestPartition(4, 1, committed_metadata=None),
    ]
    topic = OffsetCommitRequestTopic("orders", partitions=partitions)
    if version >= 10:
        topic = OffsetCommitRequestTopic(topic_id=TOPIC, partitions=partitions)
    retention = 86_400_000 if 2 <= version <= 4 else -1
    return OffsetCommitRequest(group_id, retention_time_ms=retention, topics=[topic, topic])


def in_transaction(version: int, group_id: str = GROUP) -> TxnOffsetCommitRequest:
    """The same in a transaction."""
    partitions = [
        TxnOffsetCommitRequestPartition(3, 2**40, 5 if version >= 2 else -1, "why"),
        TxnOffsetCommitRequestPartition(4, 1, committed_metadata=None),
    ]
    topic = TxnOffsetCommitRequestTopic("orders", partitions=partitions)
    if version >= 6:
        topic = TxnOffsetCommitRequestTopic(topic_id=TOPIC, partitions=partitions)
    return TxnOffsetCommitRequest("transactional", group_id, 4711, 3, topics=[topic, topic])


Commit = OffsetCommitRequest | TxnOffsetCommitRequest
EVERY = [(OFFSET, version) for version in COMMITS] + [(TXN, version) for version in IN_TRANSACTIONS]


def request(key: int, version: int, group_id: str = GROUP) -> Commit:
    return commit(version, group_id) if key == OFFSET else in_transaction(version, group_id)


def of(said: Commit, member: Client, version: int, **changes: object) -> Commit:
    """The commit of a member, with its instance id where the version has one."""
    fields: dict[str, object] = {
        "generation_id_or_member_epoch": member.generation,
        "member_id": member.member_id,
    }
    if version >= 7 or isinstance(said, TxnOffsetCommitRequest):
        fields["group_instance_id"] = member.instance_id
    return replace(said, **fields | changes)  # type: ignore[arg-type]


def hosting() -> tuple[Hosting, Client]:
    """A hosted group that is stable, and its static leader."""
    world = Hosting()
    member = Client(world, "one", instance_id="i", group_id=GROUP)
    member.join()
    world.wait(3.0)
    assert member.sync().error == 0
    return world, member


def refused(world: Hosting, key: int, version: int, said: Commit) -> dict[tuple[str, UUID, int], int]:
    """The errors of a commit by topic and partition; its response must have each once, in its order."""
    outcome = Connection(world).outcome(key, version, said.encode(version))
    assert isinstance(outcome, Answer)
    kind = OffsetCommitResponse if key == OFFSET else TxnOffsetCommitResponse
    response: Response[OffsetCommitResponse | TxnOffsetCommitResponse] = Response(outcome, key, version, kind)
    errors = [
        (topic.name, topic.topic_id, partition.partition_index, partition.error_code)
        for topic in response.body.topics
        for partition in topic.partitions
    ]
    assert [each[:3] for each in errors] == [
        (topic.name, topic.topic_id, partition.partition_index)
        for topic in said.topics
        for partition in topic.partitions
    ]
    return {each[:3]: each[3] for each in errors}


@every(("key", "version"), EVERY)
def test_a_members_commit_goes_on_as_one_of_nobody(key: int, version: int) -> None:
    """Every byte stays but those of the generation, the member and its instance; fields to come stay, too."""
    world, member = hosting()
    said, flexible = request(key, version), key == TXN or version >= 8
    bodies = [each.encode(version) for each in (of(said, member, version), said)]
    if flexible:
        bodies += [body[:-1] + TAGS for body in bodies]
    for sent, expected in zip(bodies[::2], bodies[1::2], strict=True):
        outcome = Connection(world).outcome(key, version, sent)
        assert outcome == Forward(framed(head(key, version), expected))


@every(("key", "version"), EVERY)
def test_a_commit_of_nobody_for_a_group_without_members(key: int, version: int) -> None:
    """It goes on as it came, as consumers without a group and administrators send it."""
    world, member = hosting()
    member.leave()
    body = request(key, version).encode(version)
    assert Connection(world).outcome(key, version, body) == Forward(framed(head(key, version), body))
    assert Connection(Hosting()).outcome(key, version, body) is None


@every(("key", "version"), EVERY)
def test_a_commit_that_is_refused(key: int, version: int) -> None:
    """Each partition of each topic has the error; instances are fenced where the version has them."""
    world, member = hosting()
    said = request(key, version)
    cases: list[tuple[dict[str, object], int]] = [
        ({"member_id": "ghost", "group_instance_id": None}, UNKNOWN),
        ({"generation_id_or_member_epoch": 9}, ILLEGAL),
    ]
    if key == TXN or version >= 7:
        cases += [({"member_id": "ghost"}, FENCED), ({"group_instance_id": "j"}, UNKNOWN)]
    for changes, error in cases:
        errors = refused(world, key, version, of(said, member, version, **changes))
        assert (set(errors.values()), len(errors)) == ({error}, 2)


@every("version", COMMITS)
def test_a_commit_while_syncs_are_awaited(version: int) -> None:
    """It is told that a rebalance is in progress."""
    world, member = hosting()
    member.join()
    assert set(refused(world, OFFSET, version, of(commit(version), member, version)).values()) == {REBALANCE}


@every(("key", "version"), EVERY)
def test_a_commit_of_a_member_of_no_group_passes_unread(key: int, version: int) -> None:
    """It is the broker's to fence: the member may be one of a KIP-848 group. An empty group here is fenced here."""
    world, member = hosting()
    said = of(request(key, version), member, version)
    assert Connection(Hosting()).outcome(key, version, said.encode(version)) is None
    member.leave()
    assert set(refused(world, key, version, said).values()) == {UNKNOWN}


@every(("key", "version"), EVERY)
def test_a_commit_of_a_group_that_is_not_hosted_passes_unread(key: int, version: int) -> None:
    """Its topics are not looked at."""
    connection = Connection(Hosting())
    body = request(key, version, OTHER).encode(version)
    assert connection.outcome(key, version, body) is None
    topics = body.index(b"orders") if version < 6 or (key == OFFSET and version < 10) else body.index(TOPIC.bytes)
    assert connection.outcome(key, version, body[:topics] + b"\xff" * 9) is None


@pytest.mark.parametrize("version", range(3))
def test_old_transactions_name_no_member(version: int) -> None:
    """They pass as they are, with nothing to be fenced; but not while offsets are committed again (14)."""
    world, _ = hosting()
    connection = Connection(world)
    said = in_transaction(version)
    assert connection.outcome(TXN, version, said.encode(version)) is None
    assert world.coordinator.groups[GROUP].transacted_at == world.now
    with world.coordinator.refreshing(GROUP):
        assert set(refused(world, TXN, version, said).values()) == {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
        assert connection.outcome(TXN, version, in_transaction(version, OTHER).encode(version)) is None
    with pytest.raises(MalformedMessageError):
        connection.outcome(TXN, version, b"")


def test_the_first_version_names_no_member() -> None:
    """It passes unread: such offsets are in ZooKeeper, beside the group's."""
    world, _ = hosting()
    assert Connection(world).outcome(OFFSET, 0, commit(0).encode(0)) is None


@every(("key", "version"), EVERY)
def test_a_commit_that_is_cut_short(key: int, version: int) -> None:
    """In front of its topics it is malformed here; behind, it is the broker's to refuse, or has no answer."""
    world, member = hosting()
    connection = Connection(world)
    body = of(request(key, version), member, version).encode(version)
    topics = body.index(member.member_id.encode()) + len(member.member_id)
    for size in range(topics):
        with pytest.raises(MalformedMessageError):
            connection.outcome(key, version, body[:size])
    assert isinstance(connection.outcome(key, version, body[:-1]), Forward)
    strange = of(request(key, version), member, version, generation_id_or_member_epoch=9).encode(version)
    with pytest.raises(MalformedMessageError):
        connection.outcome(key, version, strange[:-1])


@pytest.mark.parametrize(("key", "version"), [(OFFSET, 9), (TXN, 5)])
def test_a_refused_commit_of_very_many_partitions(key: int, version: int) -> None:
    """Each has its error; beyond 100,000 topics and partitions the connection ends. An accepted one goes on."""
    world, member = hosting()
    few = request(key, version)
    (topic, _), connection = few.topics, Connection(world)
    for times, answered in ((20_000, True), (40_000, False)):
        said = replace(few, topics=[topic] * times)  # type: ignore[arg-type]
        right, wrong = (of(said, member, version, generation_id_or_member_epoch=one).encode(version) for one in (1, 9))
        assert isinstance(connection.outcome(key, version, right), Forward)
        if answered:
            outcome = connection.outcome(key, version, wrong)
            assert isinstance(outcome, Answer)
            assert outcome.frame.count(b"\0\3" + INT16.pack(ILLEGAL)) == times
            continue
        with pytest.raises(Fault) as fault:
            connection.outcome(key, version, wrong)
        assert (fault.value.reason, fault.value.api_key) == (Reason.FRAME_TOO_LARGE, key)


def test_a_members_commit_is_heard() -> None:
    """It prolongs the session, as a heartbeat does."""
    world, member = hosting()
    for _ in range(3):
        world.wait(9.0)
        body = of(commit(9), member, 9).encode(9)
        assert isinstance(Connection(world).outcome(OFFSET, 9, body), Forward)
    assert member.heartbeat() == 0


def test_the_responses_have_what_a_brokers_have() -> None:
    """A refused commit, field by field: topics by name, from v10 (v6 in a transaction) on by id."""
    world, member = hosting()
    connection = Connection(world)
    wrong = of(commit(10), member, 10, generation_id_or_member_epoch=9)
    outcome = connection.outcome(OFFSET, 10, wrong.encode(10))
    assert isinstance(outcome, Answer)
    partitions = [OffsetCommitResponsePartition(3, ILLEGAL), OffsetCommitResponsePartition(4, ILLEGAL)]
    topic = OffsetCommitResponseTopic(topic_id=TOPIC, partitions=partitions)
    assert Response(outcome, OFFSET, 10, OffsetCommitResponse).body == OffsetCommitResponse(topics=[topic, topic])

    outcome = connection.outcome(TXN, 5, of(in_transaction(5), member, 5, member_id="ghost").encode(5))
    assert isinstance(outcome, Answer)
    in_txn = [TxnOffsetCommitResponsePartition(3, FENCED), TxnOffsetCommitResponsePartition(4, FENCED)]
    named = TxnOffsetCommitResponseTopic("orders", partitions=in_txn)
    assert Response(outcome, TXN, 5, TxnOffsetCommitResponse).body == TxnOffsetCommitResponse(topics=[named, named])
