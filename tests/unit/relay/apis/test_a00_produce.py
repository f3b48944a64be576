"""Produce: new leaders are named by the proxy, errors of partitions are counted."""

from __future__ import annotations

import pytest

from tests.unit.relay import frames
from tests.unit.relay.flows import play, port_of


@pytest.mark.parametrize("version", frames.versions(0, 10))
def test_new_leaders_are_the_proxys(version: int) -> None:
    """NodeEndpoints (KIP-951) of every version that has them; each error code counts."""
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


@pytest.mark.parametrize("version", [version for version in frames.versions(0) if version < 10])
def test_older_versions_pass_untouched(version: int) -> None:
    """They name no node; any bytes pass, for nothing of them is read."""
    for body in (frames.produced(version, 5, [0, 6])[8:], b"\xff" * 100, b""):
        sent = (len(body) + 4).to_bytes(4, "big") + (5).to_bytes(4, "big") + body
        relay = play([("client", frames.produce(version, 5)), ("broker", sent)])
        assert (bytes(relay.client.data), relay.errors(), relay.reason) == (sent, {}, None)
