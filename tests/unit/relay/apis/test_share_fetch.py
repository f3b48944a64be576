"""ShareFetch: as Fetch, with endpoints in a plain array. For what streams see test_forwarding."""

from __future__ import annotations

import pytest

from tests.unit.relay import frames
from tests.unit.relay.flows import Relay, port_of, whole


@pytest.mark.parametrize("host", ["p", "p" * 300])
@pytest.mark.parametrize("version", frames.versions(78))
def test_new_leaders_in_a_small_response(version: int, host: str) -> None:
    """A response that is there at once is rewritten, whatever the length of the proxy's host."""
    relay = Relay()
    relay.cluster.host = host
    sent = frames.share_fetched(version, 5, [(6, b""), (0, b"r" * 300), (74, b"")], frames.BROKERS)
    relay.play([("client", frames.request(78, version, 5)), ("broker", sent)], whole)
    read = frames.understood(78, version, bytes(relay.client.data[4:]))
    assert frames.named(read["NodeEndpoints"]) == [(node, host, port_of(node)) for node, _, _ in frames.BROKERS]
    assert read["Responses"] == frames.understood(78, version, sent[4:])["Responses"]
    assert relay.errors() == {(78, version): {6: 1, 74: 1}}
