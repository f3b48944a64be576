"""NOT_COORDINATOR (16) on a connection of an earlier epoch: in every group API and version, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproxy.errors import MalformedMessageError
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import OnRequest
from kproxy.protocol.group_errors import AT_THE_TOP, COMMITS, for_each_partition
from kproxy.rebootstrap import coordinators
from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.wire.commit_walk import MOST_NAMED, CommitWalk
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.header import RequestHeader, encode_request_header
from kproxy.wire.primitives import INT32
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, Relay, Script, play, whole

TOP = [(key, version) for key in AT_THE_TOP for version in frames.versions(key)]
EACH = [(key, version) for key in COMMITS for version in frames.versions(key)]
FETCH: list[tuple[int, int]] = [(ApiKey.OFFSET_FETCH, version) for version in frames.versions(ApiKey.OFFSET_FETCH)]
TOPICS = {"orders": (3, 0), "payments": (7,)}
IDS = {name: bytes([number]) * 16 for number, name in enumerate(TOPICS, 1)}
DECIDES = {Trigger.COORDINATOR: Action.NOT_COORDINATOR, Trigger.OFFSETS: Action.CLOSE}


def make() -> Relay:
    """Return a connection of a cluster that decides by the table, after an epoch has ended."""
    return Relay(Cluster(decides=DECIDES), earlier=1)


def commit(key: int, version: int, number: int) -> bytes:
    """Return a commit of one topic's two partitions and another topic's one."""
    topics = [
        {"Name": name, "TopicId": IDS[name], "Partitions": [{"PartitionIndex": each} for each in partitions]}
        for name, partitions in TOPICS.items()
    ]
    return frames.request(key, version, number, {"GroupId": "group", "Topics": topics})


def asked(key: int, version: int, number: int = 5) -> bytes:
    return commit(key, version, number) if key in COMMITS else frames.request(key, version, number)


def answered(relay: Relay, key: int, version: int, number: int = 5) -> dict[str, Any]:
    """Return the client's only response, which is the last on its connection; the broker got no request."""
    (answer,) = frames.split(bytes(relay.client.data))
    assert INT32.unpack_from(answer) == (number,)
    assert (relay.reason, relay.requests.last, bytes(relay.broker.data)) == (None, Reason.REBOOTSTRAP, b"")
    assert relay.cluster.asks == [(Trigger.COORDINATOR, 0)]
    return frames.understood(key, version, answer)


@every(("key", "version"), TOP)
def test_the_whole_request_is_refused(key: int, version: int) -> None:
    """This covers every API with an error at the top, in every version; kio reads the same."""
    relay = play([("epoch", b""), ("client", asked(key, version))], make)
    assert answered(relay, key, version)["ErrorCode"] == ErrorCode.NOT_COORDINATOR


@every("version", frames.versions(ApiKey.JOIN_GROUP))
def test_join_group_names_no_protocol(version: int) -> None:
    """coordinator.md: "In an error the protocol name is "" below v7 and null from v7"."""
    said = answered(
        play([("epoch", b""), ("client", asked(ApiKey.JOIN_GROUP, version))], make), ApiKey.JOIN_GROUP, version
    )
    assert said["ProtocolName"] == ("" if version < 7 else None)
    assert (said["GenerationId"], said["Leader"], said["MemberId"], said["Members"]) == (-1, "", "", [])


@pytest.mark.parametrize("version", frames.versions(ApiKey.LEAVE_GROUP, 3))
def test_leave_group_says_it_once(version: int) -> None:
    """As from Kafka's coordinator, the group's error is at the top, and members have none."""
    members = {"Members": [{"MemberId": "a"}, {"MemberId": "b"}]}
    sent = frames.request(ApiKey.LEAVE_GROUP, version, 5, members)
    said = answered(play([("epoch", b""), ("client", sent)], make), ApiKey.LEAVE_GROUP, version)
    assert (said["ErrorCode"], said["Members"]) == (ErrorCode.NOT_COORDINATOR, [])


@every(("key", "version"), EACH)
def test_every_partition_is_refused(key: int, version: int) -> None:
    """By name or id as in the request, and in its order."""
    relay = play([("epoch", b""), ("client", asked(key, version))], make)
    topics = answered(relay, key, version)["Topics"]
    by_id = "TopicId" in topics[0]
    assert by_id == (version >= {8: 10, 28: 6}[key])
    found = {topic["TopicId" if by_id else "Name"]: topic["Partitions"] for topic in topics}
    assert found == {
        (IDS[name] if by_id else name): [
            {"PartitionIndex": each, "ErrorCode": ErrorCode.NOT_COORDINATOR} for each in TOPICS[name]
        ]
        for name in TOPICS
    }


@every(("key", "version"), FETCH)
def test_committed_offsets_of_a_cluster_that_is_gone_are_not_returned(key: int, version: int) -> None:
    """They get no 16 either, which strands librdkafka's partitions: the connection ends."""
    relay = play([("epoch", b""), ("client", asked(key, version))], make)
    assert (relay.reason, bytes(relay.client.data), bytes(relay.broker.data)) == (Reason.REBOOTSTRAP, b"", b"")
    assert relay.cluster.asks == [(Trigger.OFFSETS, 0)]


@every(("key", "version"), TOP + EACH + FETCH)
def test_in_the_present_epoch_nothing_is_looked_at(key: int, version: int) -> None:
    """Requests pass unchanged, whatever follows their heads, and so do responses; the cluster is not asked."""
    sent, said = frames.raw_request(key, version, 5, b"\xff" * 40), frames.raw_response(key, version, 5, b"\xee" * 40)
    relay = play([("client", sent), ("broker", said)], make)
    assert (bytes(relay.broker.data), bytes(relay.client.data), relay.cluster.asks) == (sent, said, [])
    assert relay.table.route(key << 16 | version).on_request is OnRequest.PASS


@every(("key", "version"), TOP + EACH + FETCH)
def test_where_it_is_to_be_served_it_goes_on(key: int, version: int) -> None:
    """The cluster decides: a request that it serves reaches the broker as it was sent."""
    sent = asked(key, version)
    relay = play([("epoch", b""), ("client", sent)])
    assert (bytes(relay.broker.data), bytes(relay.client.data), relay.requests.last) == (sent, b"", None)


@every(("key", "version"), TOP + EACH)
@pytest.mark.parametrize("size", [1, 4, 11])
def test_a_request_that_has_hardly_begun_is_refused(key: int, version: int, size: int) -> None:
    """Nothing of the request had been sent on when the epoch rose."""
    hello, sent = frames.request(18, 3, 4), asked(key, version)
    relay = make()
    relay.play([("client", hello), ("broker", frames.response(18, 3, 4)), ("client", sent[:size])], whole)
    to_broker = bytes(relay.broker.data)
    relay.play([("epoch", b""), ("client", sent[size:])], whole)
    assert bytes(relay.broker.data) == to_broker
    *_, answer = frames.split(bytes(relay.client.data))
    assert INT32.unpack_from(answer) == (5,)
    assert relay.requests.last is Reason.REBOOTSTRAP


@every(("key", "version"), TOP + EACH)
def test_a_request_that_is_half_through_goes_on(key: int, version: int) -> None:
    """The broker has its first half."""
    sent = asked(key, version)
    relay = make().play([("client", sent[:-1]), ("epoch", b""), ("client", sent[-1:])], whole)
    assert (bytes(relay.broker.data), relay.requests.last, relay.cluster.asks) == (sent, None, [])


@pytest.mark.parametrize(("key", "version"), [(11, 9), (8, 10), (28, 3), (68, 1)])
def test_order(key: int, version: int) -> None:
    """The answer comes after what is in flight; what follows it is not read, and no broker gets it."""
    ping, pong = frames.request(1, 12, 4), frames.response(1, 12, 4)
    script: Script = [
        ("client", ping),
        ("epoch", b""),
        ("client", asked(key, version) + frames.produce(9, 6) + b"\xff" * 20),
        ("broker", pong),
    ]
    relay = play(script, make)
    numbers = [INT32.unpack_from(answer)[0] for answer in frames.split(bytes(relay.client.data))]
    assert (numbers, bytes(relay.broker.data), relay.reason) == ([4, 5], ping, None)
    assert relay.client.data.startswith(pong)


@every(("key", "version"), EACH)
def test_a_malformed_commit_ends_the_connection(key: int, version: int) -> None:
    """It gets no 16."""
    sent = asked(key, version)
    size = len(sent) - 5
    relay = play([("epoch", b""), ("client", INT32.pack(size - 4) + sent[4:size])], make)
    assert (relay.reason, bytes(relay.client.data), relay.cluster.asks) == (Reason.MALFORMED_REQUEST, b"", [])


@pytest.mark.parametrize(("key", "version"), EACH)
@given(junk=st.binary(max_size=60), at=st.integers(0, 60), data=st.data())
def test_any_bytes_are_refused_or_read(key: int, version: int, junk: bytes, at: int, data: st.DataObject) -> None:
    """Bytes of any kind raise only `MalformedMessageError`; nearly correct ones may claim too much to be answered."""
    body = bytearray(commit(key, version, 5)[14:])
    for position in data.draw(st.lists(st.integers(0, len(body) - 1), max_size=3)):
        body[position] ^= data.draw(st.integers(1, 255))
    for request in (junk, bytes(body), bytes(body[:at])):
        context = Relay().context
        frame = memoryview(encode_request_header(RequestHeader(key, version, 5, None)) + request)
        try:
            said = for_each_partition(context, frame, ErrorCode.NOT_COORDINATOR)
        except MalformedMessageError:
            continue
        assert isinstance(context.walk, CommitWalk)
        assert (said is None) == (context.walk.named > MOST_NAMED)
        if said is not None:
            frames.understood(key, version, said[4:])


def test_all_that_is_refused_has_a_policy() -> None:
    """Each API has what its stale connections get, and the limit of what is held."""
    keys = {*AT_THE_TOP, *COMMITS, ApiKey.OFFSET_FETCH}
    offered = coordinators.policies(Cluster())
    assert {key for key, policy in offered.items() if policy.stale is not None} == keys
    assert {key for key, policy in offered.items() if policy.stale_response is not None} == set(AT_THE_TOP)
    for key in keys:
        large = make()
        large.feed("epoch", b"")
        policy = offered[key].stale
        assert policy is not None
        large.feed("client", frames.raw_request(key, 3 if key != 76 else 1, 5, bytes(policy.request_limit)))
        assert large.reason in (Reason.FRAME_TOO_LARGE, Reason.UNSUPPORTED_VERSION)


@pytest.mark.parametrize(("key", "version"), [(8, 9), (28, 5)])
def test_a_commit_of_thousands_of_partitions(key: int, version: int) -> None:
    """It is answered, however it arrives; one of more than 100,000 ends the connection, and its client asks again."""
    for topics, refused in ((1, True), (12, False)):
        named = {"Name": "orders", "Partitions": [{"PartitionIndex": index} for index in range(9000)]}
        sent = frames.request(key, version, 5, {"GroupId": "group", "Topics": [named] * topics})
        ended = make().play([("epoch", b""), ("client", sent)], whole)
        assert (len(ended.client.data) > 9000 * 7) == refused
        assert (ended.reason, ended.requests.last)[refused] is Reason.REBOOTSTRAP
        assert bytes(ended.broker.data) == b""


def test_what_is_held_of_a_commit_that_arrives() -> None:
    """Its bytes, and what will be its answer: both count against the limit of what all connections hold."""
    partitions = [{"PartitionIndex": index} for index in range(9000)]
    content = {"GroupId": "group", "Topics": [{"Name": "orders", "Partitions": partitions}]}
    sent = frames.request(ApiKey.OFFSET_COMMIT, 8, 5, content)[:-1]
    relay = make()
    relay.play([("epoch", b""), ("client", sent)], whole)
    assert relay.requests.held_bytes == pytest.approx(len(sent) + 7 * 9000, abs=100)


@pytest.mark.parametrize("topics", [1, 12])
def test_a_commit_of_thousands_of_partitions_that_is_served(topics: int) -> None:
    """It goes on unchanged, also one that has too many to be answered."""
    named = {"Name": "orders", "Partitions": [{"PartitionIndex": index} for index in range(9000)]}
    sent = frames.request(ApiKey.OFFSET_COMMIT, 8, 5, {"GroupId": "group", "Topics": [named] * topics})
    served = Relay(earlier=1).play([("epoch", b""), ("client", sent)], whole)
    assert (bytes(served.broker.data), served.reason) == (sent, None)
