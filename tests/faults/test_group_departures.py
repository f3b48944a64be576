"""A group of a real cluster at a failover, byte by byte: kproxy's members leave it, and it goes on without them.

Sessions and rebalance timeouts are a minute, so that nobody leaves by himself.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.faults.test_rebootstrap_coordinators import (
    FIND_COORDINATOR,
    JOIN_GROUP,
    MEMBER_ID_REQUIRED,
    NOT_COORDINATOR,
    PLAIN,
    SYNC_GROUP,
    ask,
    coordinator,
    joining,
    lead,
    receive,
)
from tests.support.backend import Backend
from tests.support.bounds import Bounds
from tests.support.proxy import Proxy
from tests.support.raw import RawClient, api_versions
from tests.support.wait import until
from tests.unit.relay import frames

HEARTBEAT, DESCRIBE_GROUPS = 12, 15
REBALANCING = 27
WITH_ID = 5
"""A version of JoinGroup with member ids before the group is joined (KIP-394), and with static members."""
SOON = 8.0
"""Seconds for what would take a minute without a departure, on a busy machine."""


@pytest.fixture
def proxy(kafka: Backend, newest_kafka: Backend, tmp_path: Path) -> Iterator[Proxy]:
    """Yield one virtual cluster over both."""
    both = {"old": kafka.cluster.bootstrap, "new": newest_kafka.cluster.bootstrap}
    with Proxy(tmp_path, {"kafka": both}) as proxy:
        yield proxy


class Group:
    """A group at the old cluster, led by a member that comes around kproxy."""

    def __init__(self, name: str, kafka: Backend, proxy: Proxy, stack: ExitStack) -> None:
        self.name = name
        kafka.open_coordinator(kafka.topic(1))
        self._port = coordinator(proxy, name)
        self._stack = stack
        self.leader = self._connected(self._own_port(kafka))
        self.leader_id = lead(self.leader, name)

    def member(self) -> RawClient:
        """Return a connection to the coordinator through kproxy."""
        return self._connected(self._port)

    def _connected(self, port: int) -> RawClient:
        client = self._stack.enter_context(RawClient(port, timeout=SOON))
        client.ask(api_versions(1))
        return client

    def _own_port(self, kafka: Backend) -> int:
        with RawClient(int(kafka.cluster.bootstrap.split(",")[0].rpartition(":")[2])) as client:
            return int(ask(client, FIND_COORDINATOR, 3, {"Key": self.name, "KeyType": 0})["Port"])

    def begin_join(self, client: RawClient, instance: str | None = None) -> None:
        """Send a JoinGroup that waits for the leader's."""
        content = joining(self.name) | {"GroupInstanceId": instance}
        if instance is None:
            said = ask(client, JOIN_GROUP, WITH_ID, content)
            assert said["ErrorCode"] == MEMBER_ID_REQUIRED
            content |= {"MemberId": said["MemberId"]}
        client.send(frames.request(JOIN_GROUP, WITH_ID, 2, content))

    def await_joining(self, count: int) -> None:
        """Wait until the broker has so many members beside the leader: that kproxy has sent a JoinGroup says less."""
        until(lambda: len(self.instances()) == 1 + count, f"{count} have joined")

    def rejoin(self) -> int:
        """Have the leader join again; return the generation."""
        said = ask(self.leader, JOIN_GROUP, PLAIN, joining(self.name, self.leader_id))
        assert said["ErrorCode"] == 0
        return int(said["GenerationId"])

    def settle(self, members: Mapping[RawClient, str | None]) -> int:
        """Make a generation of the leader and these members, which have begun to join; return it."""
        generation = self.rejoin()
        ids = {client: receive(client, JOIN_GROUP, WITH_ID, 2)["MemberId"] for client in members}
        common = {"GroupId": self.name, "GenerationId": generation}
        shares = [{"MemberId": one, "Assignment": b"any"} for one in (self.leader_id, *ids.values())]
        mine = {**common, "MemberId": self.leader_id, "Assignments": shares}
        assert ask(self.leader, SYNC_GROUP, PLAIN, mine)["ErrorCode"] == 0
        for client, instance in members.items():
            said = {**common, "MemberId": ids[client], "GroupInstanceId": instance}
            assert ask(client, SYNC_GROUP, PLAIN, said)["ErrorCode"] == 0
        return generation

    def beat(self, generation: int) -> int:
        """Return what a heartbeat of the leader is answered."""
        said = {"GroupId": self.name, "GenerationId": generation, "MemberId": self.leader_id}
        return int(ask(self.leader, HEARTBEAT, PLAIN, said)["ErrorCode"])

    def instances(self) -> Sequence[str | None]:
        """Return the instance id of each member that the cluster has, None for a dynamic one."""
        (said,) = ask(self.leader, DESCRIBE_GROUPS, 4, {"Groups": [self.name]})["Groups"]
        return [one["GroupInstanceId"] for one in said["Members"]]


@pytest.fixture
def group(request: pytest.FixtureRequest, kafka: Backend, proxy: Proxy) -> Iterator[Group]:
    """Yield a group that is named after the test."""
    with ExitStack() as stack:
        yield Group(request.node.name, kafka, proxy, stack)


def left(proxy: Proxy, count: int) -> None:
    """Wait until so many members are counted, all of which must have left."""
    until(lambda: proxy.metric("kproxy_group_departures_total") == count, f"{count} members are counted", SOON)
    assert proxy.metric("kproxy_group_departures_total", outcome="left") == count


def test_the_others_go_on_in_one_rebalance(group: Group, proxy: Proxy, bounds: Bounds) -> None:
    """Members of a generation leave together; who came around kproxy joins once more, and waits for nobody."""
    members: dict[RawClient, str | None] = {group.member(): None for _ in range(3)}
    for client in members:
        group.begin_join(client)
    group.await_joining(3)
    generation = group.settle(members)
    assert group.beat(generation) == 0
    proxy.fail_over("kafka", "new")
    left(proxy, 3)
    assert group.beat(generation) == REBALANCING
    begun = time.monotonic()
    assert group.rejoin() == generation + 1
    bounds.below(time.monotonic() - begun, SOON, "seconds until it was a member again")
    assert group.instances() == [None]
    proxy_log = proxy.logged(event="members have left the old coordinator")
    assert [(line["upstream"], line["left"]) for line in proxy_log] == [("old", 3)]


def test_a_static_member_leaves(group: Group, proxy: Proxy) -> None:
    """A client that came back under the other cluster's member id would be fenced, as long as its instance is known."""
    members = {group.member(): None, group.member(): "instance"}
    for client, instance in members.items():
        group.begin_join(client, instance)
    group.await_joining(2)
    group.settle(members)
    assert sorted(group.instances(), key=str) == [None, None, "instance"]
    proxy.fail_over("kafka", "new")
    left(proxy, 2)
    assert group.instances() == [None]


def test_a_member_that_waits_to_join_leaves(group: Group, proxy: Proxy) -> None:
    """Its JoinGroup is at the old coordinator, which would have the others wait for it."""
    joiner = group.member()
    group.begin_join(joiner)
    group.await_joining(1)
    proxy.fail_over("kafka", "new")
    assert receive(joiner, JOIN_GROUP, WITH_ID, 2)["ErrorCode"] == NOT_COORDINATOR
    left(proxy, 1)
    group.rejoin()
    assert group.instances() == [None]


def test_a_member_that_came_back_on_another_connection_leaves(group: Group, proxy: Proxy) -> None:
    """As after a broken connection: it goes on with heartbeats, and does not join anew."""
    member = group.member()
    group.begin_join(member)
    group.await_joining(1)
    generation = group.rejoin()
    member_id = receive(member, JOIN_GROUP, WITH_ID, 2)["MemberId"]
    member.socket.close()
    again = group.member()
    said: dict[str, Any] = {"GroupId": group.name, "GenerationId": generation, "MemberId": member_id}
    assert ask(again, HEARTBEAT, PLAIN, said)["ErrorCode"] == 0
    proxy.fail_over("kafka", "new")
    left(proxy, 1)
