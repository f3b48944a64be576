"""DescribeCluster: as in Metadata, brokers get the proxy's addresses and are learnt."""

from __future__ import annotations

import pytest

from tests.unit.relay import frames
from tests.unit.relay.flows import play, port_of


@pytest.mark.parametrize("version", frames.versions(60))
def test_brokers_are_the_proxys(version: int) -> None:
    """All else stays."""
    content = {"Brokers": frames.endpoints(frames.BROKERS, "BrokerId"), "ClusterId": "c", "ControllerId": 1001}
    sent = frames.response(60, version, 5, content)
    relay = play([("client", frames.request(60, version, 5)), ("broker", sent)])
    before = frames.understood(60, version, sent[4:])
    after = frames.understood(60, version, bytes(relay.client.data[4:]))
    advertised = [(node, "proxy.example", port_of(node)) for node, _, _ in frames.BROKERS]
    assert frames.named(after["Brokers"], "BrokerId") == advertised
    assert {**after, "Brokers": 0} == {**before, "Brokers": 0}
    assert relay.cluster.learnt == [list(frames.BROKERS)]


@pytest.mark.parametrize("version", frames.versions(60))
def test_an_error_passes(version: int) -> None:
    """It is counted once, and nothing is learnt."""
    sent = frames.response(60, version, 5, {"ErrorCode": 31, "ErrorMessage": "no"})
    relay = play([("client", frames.request(60, version, 5)), ("broker", sent)])
    assert (bytes(relay.client.data), relay.errors()) == (sent, {(60, version): {31: 1}})
    assert relay.cluster.learnt == []


@pytest.mark.parametrize("version", frames.versions(60, 1))
def test_controllers_are_masked_and_not_learnt(version: int) -> None:
    """With EndpointType 2 (KIP-919) the nodes are controllers: none gets a port, and none of their hosts leaks."""
    content = {"Brokers": frames.endpoints(frames.BROKERS, "BrokerId"), "EndpointType": 2}
    sent = frames.response(60, version, 5, content)
    relay = play([("client", frames.request(60, version, 5)), ("broker", sent)])
    read = frames.understood(60, version, bytes(relay.client.data[4:]))
    advertised = [(node, f"controller-{node}.invalid", port) for node, _, port in frames.BROKERS]
    assert frames.named(read["Brokers"], "BrokerId") == advertised
    assert (relay.cluster.learnt, relay.cluster.advertised) == ([], [])
