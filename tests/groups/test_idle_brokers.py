"""A broker ends connections that are idle: those of a hosted group's members are not."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from kproxy.local_kafka.cluster import Cluster
from tests.support import golang
from tests.support.backend import Backend
from tests.support.client import running
from tests.support.hosted_group import HostedGroup
from tests.support.proxy import Proxy
from tests.support.raw import RawClient, api_versions
from tests.support.wait import until

IDLE_SECONDS: Final = 40
"""What the broker bears; kproxy asks it again after 30 s."""
LATER: Final = 2
"""Seconds: a member heartbeats each second, and one whose connection has ended has met that by then."""


@pytest.mark.go
@pytest.mark.timeout(240)
def test_members_that_commit_nothing(tmp_path: Path) -> None:
    """Nothing but heartbeats comes by their connections, and kproxy answers these; kafka-go rejoins if one ends."""
    settings = {"connections.max.idle.ms": IDLE_SECONDS * 1000}
    hosted = {"groups": [{"match": ".*", "initial_rebalance_delay": "100ms"}]}
    with (
        Cluster(node_ids=(1,), settings=settings) as cluster,
        Proxy(tmp_path, {"kafka": cluster.bootstrap}, each=hosted) as proxy,
        ExitStack() as members,
    ):
        topic = Backend(cluster).topic(2, 1)
        said = json.dumps({"servers": proxy.bootstrap(), "topic": topic, "group": "idle"})
        command = [str(golang.franz_go()), "member-kafka-go", said]
        for name in ("one", "two"):
            (own := tmp_path / name).mkdir()
            members.enter_context(running(command, own))
        group = HostedGroup(proxy, "kafka", "idle")
        until(lambda: len(group.stable_members()) == 2, "two members", timeout=60)
        before = (group.generation(), group.ids())
        with RawClient(proxy.port(), timeout=3 * IDLE_SECONDS) as idle:
            idle.ask(api_versions(1))  # later than what the members have asked the broker
            assert idle.socket.recv(1) == b"", "the broker ends an idle connection, and kproxy its client's"
        ended = time.monotonic()
        until(lambda: all(heard(member) > ended + LATER for member in group.members()), "heartbeats since then")
        assert (group.generation(), group.ids()) == before


def heard(member: dict[str, float]) -> float:
    """When its last heartbeat came."""
    return time.monotonic() + member["session_ends"] - member["session_timeout"]
