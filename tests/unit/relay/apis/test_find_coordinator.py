"""FindCoordinator: one or many coordinators get the proxy's addresses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import Relay, play, port_of

ABSENT = (-1, "", -1)


def found(version: int, nodes: list[frames.Endpoint], codes: list[int]) -> bytes:
    if version >= 4:
        coordinators = [
            {"Key": f"group-{n}", "NodeId": node, "Host": host, "Port": port, "ErrorCode": code}
            for n, ((node, host, port), code) in enumerate(zip(nodes, codes, strict=True))
        ]
        return frames.response(10, version, 5, {"Coordinators": coordinators})
    node, host, port = nodes[0]
    return frames.response(10, version, 5, {"NodeId": node, "Host": host, "Port": port, "ErrorCode": codes[0]})


def exchange(version: int, sent: bytes) -> tuple[Relay, Any]:
    relay = play([("client", frames.request(10, version, 5)), ("broker", sent)])
    return relay, frames.understood(10, version, bytes(relay.client.data[4:]))


@pytest.mark.parametrize("version", [version for version in frames.versions(10) if version < 4])
def test_one_coordinator(version: int) -> None:
    """Up to v3 it is at the top level."""
    relay, read = exchange(version, found(version, [frames.BROKERS[1]], [0]))
    assert (read["NodeId"], read["Host"], read["Port"]) == (1001, "proxy.example", port_of(1001))
    assert relay.cluster.learnt == []


@pytest.mark.parametrize("version", frames.versions(10, 4))
def test_coordinators_of_many_groups(version: int) -> None:
    """From v4 on there is one for each key (KIP-699). A coordinator not found stays absent; its error is counted."""
    relay, read = exchange(version, found(version, [frames.BROKERS[0], ABSENT, frames.BROKERS[2]], [0, 15, 0]))
    assert frames.named(read["Coordinators"]) == [
        (7, "proxy.example", port_of(7)),
        ABSENT,
        (2147483646, "proxy.example", port_of(2147483646)),
    ]
    assert relay.errors() == {(10, version): {15: 1}}


@every("version", frames.versions(10))
def test_no_coordinator(version: int) -> None:
    """COORDINATOR_NOT_AVAILABLE passes byte for byte, and is counted once."""
    sent = found(version, [ABSENT], [15])
    relay, _ = exchange(version, sent)
    assert (bytes(relay.client.data), relay.errors()) == (sent, {(10, version): {15: 1}})
    assert relay.cluster.advertised == []
