"""Produce: new leaders get the proxy's addresses, errors of partitions are counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kproxy.observe.reasons import Reason
from kproxy.wire.generated.produce_response import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kproxy.wire.primitives import INT32, frame
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import Relay, Script, play, port_of


@pytest.mark.parametrize("version", frames.versions(0, 10))
def test_new_leaders_are_the_proxys(version: int) -> None:
    """In NodeEndpoints (KIP-951) of every version that has them; each error code is counted."""
    codes = [0, 6, 6, 0, 87, -1]
    sent = frames.produced(version, 5, codes, frames.BROKERS)
    relay = play([("client", frames.produce(version, 5)), ("broker", sent)])
    assert relay.errors() == {(0, version): {6: 2, 87: 1, -1: 1}}
    read = frames.understood(0, version, bytes(relay.client.data[4:]))
    assert read["Responses"] == frames.understood(0, version, sent[4:])["Responses"]
    assert frames.named(read["NodeEndpoints"]) == [
        (node, "proxy.example", port_of(node)) for node, _, _ in frames.BROKERS
    ]


@pytest.mark.parametrize("version", frames.versions(0, 10))
def test_unknown_error_codes(version: int) -> None:
    """They are counted and pass, with and without endpoints."""
    for nodes in ((), frames.BROKERS):
        sent = frames.produced(version, 5, [30000], nodes)
        relay = play([("client", frames.produce(version, 5)), ("broker", sent)])
        assert relay.errors() == {(0, version): {30000: 1}}
        assert (bytes(relay.client.data) == sent) == (not nodes)


@every("version", [version for version in frames.versions(0) if version < 10])
def test_older_versions_pass_untouched(version: int) -> None:
    """They name no node; any bytes pass, and the codes of those that are a response are counted."""
    codes = {frames.produced(version, 5, [0, 6])[8:]: {(0, version): {6: 1}}, b"\xff" * 100: {}, b"": {}}
    for body, errors in codes.items():
        sent = (len(body) + 4).to_bytes(4, "big") + (5).to_bytes(4, "big") + body
        relay = play([("client", frames.produce(version, 5)), ("broker", sent)])
        assert (bytes(relay.client.data), relay.errors(), relay.reason) == (sent, errors, None)


def hiding() -> Relay:
    """A connection whose client gets no topic ids and no leader epochs."""
    relay = Relay()
    relay.cluster.hides = True
    return relay


@pytest.mark.parametrize("version", frames.versions(0, 10))
def test_a_client_without_epochs_hears_of_no_new_leaders(version: int) -> None:
    """All else stays, byte by byte: codes, offsets, errors of records, tagged fields; codes are counted."""
    tags = ((7, b"seven"),)
    moved = PartitionProduceResponse(1, 6, -1, current_leader=LeaderIdAndEpoch(7, 4, tags), unknown_tags=tags)
    wrong = PartitionProduceResponse(2, 87, -1, 5, 6, [BatchIndexAndErrorMessage(3, "bad", tags)], "worse")
    topics = [
        TopicProduceResponse("" if version >= 13 else name, partition_responses=[moved, wrong], unknown_tags=tags)
        for name in ("orders", "payments")
    ]
    nodes = [NodeEndpoint(7, "broker", 9092, "rack", tags)]
    response = ProduceResponse(topics, 12, nodes, tags)
    still = replace(moved, current_leader=LeaderIdAndEpoch())
    expected = replace(
        response, responses=[replace(one, partition_responses=[still, wrong]) for one in topics], node_endpoints=[]
    )
    head = INT32.pack(5) + b"\0"
    script: Script = [
        ("client", frames.produce(version, 5)),
        ("broker", frame(head, response.encode(version))),
    ]
    relay = play(script, hiding)
    assert bytes(relay.client.data) == frame(head, expected.encode(version))
    assert relay.errors() == {(0, version): {6: 2, 87: 2}}
    assert relay.cluster.advertised == []


@every("version", frames.versions(0))
def test_without_new_leaders_it_passes_as_it_is(version: int) -> None:
    """Nearly every response is like this."""
    sent = frames.produced(version, 5, [0, 6])
    relay = play([("client", frames.produce(version, 5)), ("broker", sent)], hiding)
    assert bytes(relay.client.data) == sent


def test_new_leaders_of_a_response_that_does_not_end() -> None:
    """It is the broker's fault, and the connection ends."""
    sent = frames.produced(12, 5, [6], frames.BROKERS)
    broken = sent[4:-1]
    relay = play([("client", frames.produce(12, 5)), ("broker", frame(broken))], hiding)
    assert relay.reason is Reason.MALFORMED_RESPONSE
