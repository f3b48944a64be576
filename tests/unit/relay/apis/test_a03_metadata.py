"""Metadata: brokers are named by the proxy, and learnt before the client hears of them."""

from __future__ import annotations

import pytest

from tests.unit.relay import frames
from tests.unit.relay.flows import play, port_of


@pytest.mark.parametrize("version", frames.versions(3))
def test_brokers_are_the_proxys(version: int) -> None:
    """Any node id; racks, controller, cluster id and topics stay."""
    topics = [
        {
            "Name": "orders",
            "TopicId": bytes(range(16)),
            "ErrorCode": 5,
            "Partitions": [{"PartitionIndex": 1, "LeaderId": 7, "ReplicaNodes": [7, 1001], "IsrNodes": [7]}],
        }
    ]
    brokers = frames.endpoints(frames.BROKERS)
    brokers[0]["Rack"] = "rack-1"
    content = {"Brokers": brokers, "ControllerId": 7, "ClusterId": "c", "Topics": topics}
    sent = frames.response(3, version, 5, content)
    relay = play([("client", frames.request(3, version, 5)), ("broker", sent)])
    before = frames.understood(3, version, sent[4:])
    after = frames.understood(3, version, bytes(relay.client.data[4:]))
    assert frames.named(after["Brokers"]) == [(node, "proxy.example", port_of(node)) for node, _, _ in frames.BROKERS]
    assert [broker.get("Rack") for broker in after["Brokers"]] == [broker.get("Rack") for broker in before["Brokers"]]
    assert {**after, "Brokers": 0} == {**before, "Brokers": 0}
    assert relay.cluster.learnt == [list(frames.BROKERS)]


@pytest.mark.parametrize("version", frames.versions(3))
def test_a_broker_without_address(version: int) -> None:
    """Id -1, or no host: nothing to be advertised, and it stays as it is."""
    absent = [(-1, "", -1), (5, "", 0)]
    sent = frames.response(3, version, 5, {"Brokers": frames.endpoints(absent)})
    relay = play([("client", frames.request(3, version, 5)), ("broker", sent)])
    assert (bytes(relay.client.data), relay.cluster.told) == (sent, [])


def test_a_frame_of_metadata_that_grows_in_parts() -> None:
    """A thousand topics in many reads: held, and rewritten once they are there."""
    topics = [{"Name": f"topic-{n}", "TopicId": bytes(16), "Partitions": [{}] * 3} for n in range(200)]
    sent = frames.response(3, 12, 5, {"Brokers": frames.endpoints(frames.BROKERS), "Topics": topics})
    relay = play([("client", frames.request(3, 12, 5)), ("broker", sent)])
    assert relay.client.data[-1000:] == sent[-1000:]
    assert len(relay.cluster.learnt) == 1
