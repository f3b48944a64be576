"""ShareAcknowledge: new leaders get the proxy's addresses, errors of partitions are counted."""

from __future__ import annotations

import pytest

from tests.unit.relay import frames
from tests.unit.relay.flows import play, port_of


@pytest.mark.parametrize("version", frames.versions(79))
def test_new_leaders_are_the_proxys(version: int) -> None:
    """Each error code is counted, too."""
    partitions = [{"PartitionIndex": n, "ErrorCode": code} for n, code in enumerate((0, 6, 121, 6))]
    content = {
        "Responses": [{"TopicId": bytes(range(16)), "Partitions": partitions}],
        "NodeEndpoints": frames.endpoints(frames.BROKERS),
    }
    sent = frames.response(79, version, 5, content)
    relay = play([("client", frames.request(79, version, 5)), ("broker", sent)])
    read = frames.understood(79, version, bytes(relay.client.data[4:]))
    advertised = [(node, "proxy.example", port_of(node)) for node, _, _ in frames.BROKERS]
    assert frames.named(read["NodeEndpoints"]) == advertised
    assert read["Responses"] == frames.understood(79, version, sent[4:])["Responses"]
    assert relay.errors() == {(79, version): {6: 2, 121: 1}}
