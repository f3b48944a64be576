"""Group members during a switch of their cluster, byte by byte, between two real clusters: 16, and nothing lost.

The requests are written from Kafka's schemas, and kio reads the responses: none of kproxy's own codecs is used.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka.admin import AdminClient

from tests.support.backend import Backend
from tests.support.bounds import Bounds
from tests.support.proxy import Proxy
from tests.support.raw import RawClient, api_versions
from tests.support.wait import until
from tests.unit.relay import frames

NOT_COORDINATOR = 16
MEMBER_ID_REQUIRED = 79
OFFSET_COMMIT, OFFSET_FETCH, FIND_COORDINATOR, JOIN_GROUP, SYNC_GROUP, TXN_OFFSET_COMMIT = 8, 9, 10, 11, 14, 28
AT_THE_TOP = (JOIN_GROUP, 12, 13, SYNC_GROUP, 68, 76, 88)
TOP = [(key, version) for key in AT_THE_TOP for version in frames.versions(key)]
COMMITS = [(key, version) for key in (OFFSET_COMMIT, TXN_OFFSET_COMMIT) for version in frames.versions(key)]
AT_ONCE = 0.6
"""Seconds until 16 must arrive, on a busy machine; less than the second that other requests in flight have."""
HARDLY_BEGUN = 11
"""Bytes of a request that are sent first: one less than kproxy reads before it sends a request on."""
PLAIN = 3
"""A version of JoinGroup and SyncGroup that needs no member id."""


@pytest.fixture
def proxy(kafka: Backend, newest_kafka: Backend, tmp_path: Path) -> Iterator[Proxy]:
    """Yield one virtual cluster over both."""
    both = {"old": kafka.cluster.bootstrap, "new": newest_kafka.cluster.bootstrap}
    with Proxy(tmp_path, {"kafka": both}) as proxy:
        yield proxy


def ask(client: RawClient, key: int, version: int, content: dict[str, Any], number: int = 1) -> dict[str, Any]:
    """Send a request and return its response."""
    client.send(frames.request(key, version, number, content))
    return receive(client, key, version, number)


def receive(client: RawClient, key: int, version: int, number: int = 1) -> dict[str, Any]:
    """Return the next response, which must have this correlation id."""
    got, body = client.receive()
    assert got == number
    return frames.understood(key, version, struct.pack(">i", got) + body)


def check_ended(client: RawClient) -> None:
    """Check that nothing more comes, and that the connection ends."""
    assert client.wait_closed(5) == b""


def coordinator(proxy: Proxy, group: str) -> int:
    """Return the port at which the proxy has the group's coordinator."""

    def find() -> dict[str, Any]:
        with RawClient(proxy.port()) as client:
            said = ask(client, FIND_COORDINATOR, 3, {"Key": group, "KeyType": 0})
        return said if said["ErrorCode"] == 0 else {}

    return int(until(find, f"the coordinator of {group}")["Port"])


def joining(group: str, member_id: str = "") -> dict[str, Any]:
    """Return a member's JoinGroup."""
    protocols = [{"Name": "range", "Metadata": b"any"}]
    times = {"SessionTimeoutMs": 60_000, "RebalanceTimeoutMs": 60_000}
    return {"GroupId": group, "MemberId": member_id, "ProtocolType": "consumer", "Protocols": protocols, **times}


def begin_join(client: RawClient, version: int, group: str) -> None:
    """Send a JoinGroup that waits until another member has joined again (KIP-394 asks for an id first)."""
    member_id = ""
    if version >= 4:
        said = ask(client, JOIN_GROUP, version, joining(group))
        assert said["ErrorCode"] == MEMBER_ID_REQUIRED
        member_id = said["MemberId"]
    client.send(frames.request(JOIN_GROUP, version, 2, joining(group, member_id)))


def lead(client: RawClient, group: str) -> str:
    """Found a stable group of one member; return the member's id."""
    joined = ask(client, JOIN_GROUP, PLAIN, joining(group))
    assert joined["ErrorCode"] == 0
    member = {"GroupId": group, "GenerationId": joined["GenerationId"], "MemberId": joined["MemberId"]}
    mine = [{"MemberId": joined["MemberId"], "Assignment": b"all"}]
    assert ask(client, SYNC_GROUP, PLAIN, {**member, "Assignments": mine})["ErrorCode"] == 0
    return str(joined["MemberId"])


def waiting(proxy: Proxy, clients: Sequence[RawClient]) -> bool:
    """True when each client has a request in flight, as the proxy sees it."""
    shown = proxy.get_json("/api/v1/connections?limit=1000")["connections"]
    busy = {int(one["client"].rpartition(":")[2]) for one in shown if one["in_flight"] == 1}
    return {client.socket.getsockname()[1] for client in clients} <= busy


def test_members_that_wait_at_the_old_coordinator_are_answered_at_once(
    proxy: Proxy, kafka: Backend, bounds: Bounds
) -> None:
    """JoinGroup and SyncGroup in every version, which the old cluster would hold for a minute: 16, then the end."""
    kafka.open_coordinator(kafka.topic(1))
    joins, syncs = frames.versions(JOIN_GROUP), frames.versions(SYNC_GROUP)
    with ExitStack() as stack:

        def member(group: str) -> RawClient:
            client = stack.enter_context(RawClient(ports[group]))
            client.ask(api_versions(1))
            return client

        ports = {group: coordinator(proxy, group) for group in ("joining", "syncing")}
        lead(member("joining"), "joining")
        leader = member("syncing")
        leader_id = lead(leader, "syncing")
        joiners = [member("joining") for _ in joins]
        for client, version in zip(joiners, joins, strict=True):
            begin_join(client, version, "joining")
        followers = [member("syncing") for _ in syncs]
        for client in followers:
            client.send(frames.request(JOIN_GROUP, PLAIN, 1, joining("syncing")))
        until(lambda: waiting(proxy, followers), "followers that wait")
        assert ask(leader, JOIN_GROUP, PLAIN, joining("syncing", leader_id))["ErrorCode"] == 0
        for client, version in zip(followers, syncs, strict=True):
            joined = receive(client, JOIN_GROUP, PLAIN)
            said = {"GroupId": "syncing", "GenerationId": joined["GenerationId"], "MemberId": joined["MemberId"]}
            chosen = {"ProtocolType": "consumer", "ProtocolName": "range"}
            client.send(frames.request(SYNC_GROUP, version, 2, {**said, **chosen}))
        until(lambda: waiting(proxy, joiners + followers), "all wait")
        proxy.fail_over("kafka", "new")
        begun = time.monotonic()
        codes = [
            receive(client, key, version, 2)["ErrorCode"]
            for key, clients, versions in ((JOIN_GROUP, joiners, joins), (SYNC_GROUP, followers, syncs))
            for client, version in zip(clients, versions, strict=True)
        ]
        took = time.monotonic() - begun
        for client in (*joiners, *followers):
            check_ended(client)
    assert codes == [NOT_COORDINATOR] * (len(joins) + len(syncs))
    bounds.below(took, AT_ONCE, "seconds until all were answered")
    assert proxy.metric("kproxy_clients_told_total", means="16") == len(codes)
    assert proxy.metric("kproxy_clients_told_total", means="close") == 2, "the leaders, who waited for nothing"
    assert proxy.metric("kproxy_protocol_errors_total") == 0
    print(f"{len(codes)} members that waited were told by 16 within {took:.3f} s")


def committing(topic: str, group: str, offset: int) -> dict[str, Any]:
    """Return a commit for one partition without a member: a form that OffsetCommit and TxnOffsetCommit share."""
    partition = {"PartitionIndex": 0, "CommittedOffset": offset, "CommittedLeaderEpoch": -1, "CommittedMetadata": ""}
    topics = [{"Name": topic, "Partitions": [partition]}]
    return {"GroupId": group, "Topics": topics}


def committed(backend: Backend, group: str, topic: str) -> int | None:
    """Return the offset that a cluster has of the group for partition 0, or None."""
    admin = AdminClient({"bootstrap.servers": backend.cluster.bootstrap, "log_level": 0})
    (future,) = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]).values()
    offsets = {(one.topic, one.partition): one.offset for one in future.result(10).topic_partitions or ()}
    return offsets.get((topic, 0))


def test_the_last_moment(proxy: Proxy, kafka: Backend) -> None:
    """Every group API in every version, complete while the epoch rises: 16, then the end; the old cluster gets nothing.

    A commit that came before is done and confirmed, one behind 16 is not read, and an OffsetFetch gets no answer.
    """
    topic = kafka.topic(1)
    kafka.open_coordinator(topic)
    port = coordinator(proxy, "any")
    with ExitStack() as stack:

        def begin(key: int, version: int, content: dict[str, Any]) -> tuple[RawClient, bytes]:
            client = stack.enter_context(RawClient(port))
            client.ask(api_versions(1))
            request = frames.request(key, version, 2, content)
            client.send(request[:HARDLY_BEGUN])
            return client, request[HARDLY_BEGUN:]

        def group_of(key: int, version: int) -> str:
            return f"{topic}-{key}-{version}"

        begun = {(key, version): begin(key, version, {"GroupId": "any"}) for key, version in TOP}
        for key, version in COMMITS:
            begun[key, version] = begin(key, version, committing(topic, group_of(key, version), 42))
        fetch, rest_of_fetch = begin(OFFSET_FETCH, 7, {"GroupId": "any", "Topics": None})
        in_time = stack.enter_context(RawClient(coordinator(proxy, "in time")))
        assert ask(in_time, OFFSET_COMMIT, 8, committing(topic, "in time", 41))["Topics"][0]["Partitions"] == [
            {"PartitionIndex": 0, "ErrorCode": 0}
        ]
        proxy.fail_over("kafka", "new")
        behind = frames.request(OFFSET_COMMIT, 8, 3, committing(topic, "behind", 43))
        for client, rest in begun.values():
            client.send(rest, behind)
        fetch.send(rest_of_fetch, behind)
        for (key, version), (client, _) in begun.items():
            said = receive(client, key, version, 2)
            codes = (
                [partition["ErrorCode"] for one in said["Topics"] for partition in one["Partitions"]]
                if (key, version) in COMMITS
                else [said["ErrorCode"]]
            )
            assert codes == [NOT_COORDINATOR], (key, version)
        for client in (*(client for client, _ in begun.values()), fetch):
            check_ended(client)
    assert proxy.metric("kproxy_clients_told_total", means="16") == len(begun)
    assert proxy.metric("kproxy_protocol_errors_total") == 0
    groups = [group_of(OFFSET_COMMIT, version) for version in frames.versions(OFFSET_COMMIT)]
    assert {group: committed(kafka, group, topic) for group in (*groups, "behind")} == dict.fromkeys(
        (*groups, "behind")
    )
    assert committed(kafka, "in time", topic) == 41
