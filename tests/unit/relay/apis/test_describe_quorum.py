"""DescribeQuorum: the listeners of controllers are masked."""

from __future__ import annotations

import pytest

from tests.unit.relay import frames
from tests.unit.relay.flows import play

VOTERS = {"Topics": [{"TopicName": "__cluster_metadata", "Partitions": [{"CurrentVoters": [{"ReplicaId": 3}]}]}]}


def test_listeners_are_masked() -> None:
    """Each host becomes a name that says which controller it is and resolves nowhere; voters and ports stay."""
    nodes = [
        {
            "NodeId": node,
            "Listeners": [{"Name": "CONTROLLER", "Host": f"controller-host-{node}", "Port": 9093}] * count,
        }
        for node, count in ((3, 1), (4, 2), (5, 0))
    ]
    sent = frames.response(55, 2, 5, {**VOTERS, "Nodes": nodes})
    relay = play([("client", frames.request(55, 2, 5)), ("broker", sent)])
    read = frames.understood(55, 2, bytes(relay.client.data[4:]))
    assert [(node["NodeId"], [(at["Host"], at["Port"]) for at in node["Listeners"]]) for node in read["Nodes"]] == [
        (3, [("controller-3.invalid", 9093)]),
        (4, [("controller-4.invalid", 9093)] * 2),
        (5, []),
    ]
    assert read["Topics"] == frames.understood(55, 2, sent[4:])["Topics"]
    assert (relay.cluster.advertised, relay.cluster.learnt) == ([], [])
    assert b"controller-host" not in relay.client.data


@pytest.mark.parametrize("version", [0, 1])
def test_older_versions_pass_untouched(version: int) -> None:
    """They name no listener; their error is counted."""
    sent = frames.response(55, version, 5, {**VOTERS, "ErrorCode": 6})
    relay = play([("client", frames.request(55, version, 5)), ("broker", sent)])
    assert (bytes(relay.client.data), relay.errors()) == (sent, {(55, version): {6: 1}})


def test_an_error_of_v2_is_counted_once() -> None:
    """Whether it is at the top level or in a partition."""
    topics = {"Topics": [{"TopicName": "t", "Partitions": [{"ErrorCode": 41}]}], "ErrorCode": 6}
    relay = play([("client", frames.request(55, 2, 5)), ("broker", frames.response(55, 2, 5, topics))])
    assert relay.errors() == {(55, 2): {6: 1, 41: 1}}
