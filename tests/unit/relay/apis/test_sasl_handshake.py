"""SaslHandshake: v1 passes and names the mechanism. Of v0 see test_sasl_tokens."""

from __future__ import annotations

import pytest

from tests.unit.relay import frames
from tests.unit.relay.flows import play


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512", "GSSAPI", "", "x" * 32767])
def test_v1_passes(mechanism: str) -> None:
    """Which mechanisms exist is between client and broker; an error is counted."""
    sent = frames.response(17, 1, 5, {"ErrorCode": 33, "Mechanisms": ["SCRAM-SHA-512", "PLAIN"]})
    asked = frames.request(17, 1, 5, {"Mechanism": mechanism})
    relay = play([("client", asked), ("broker", sent)])
    assert (bytes(relay.broker.data), bytes(relay.client.data)) == (asked, sent)
    assert relay.errors() == {(17, 1): {33: 1}}


@pytest.mark.parametrize("rest", [b"", b"\xff\xff", b"\xff\xff\xff\xff", b"\xff\xff\0\x05PLAI", b"\xff\xff\0\1\xff"])
def test_a_malformed_one_is_the_brokers_to_refuse(rest: bytes) -> None:
    """It passes as it came. It names no mechanism, and the one before no longer counts."""
    before = frames.request(17, 1, 4, {"Mechanism": "PLAIN"}) + frames.raw_request(17, 1, 5, rest)
    relay = play([("client", before)])
    assert (relay.reason, bytes(relay.broker.data)) == (None, before)
    relay.feed("client", frames.request(36, 2, 6, {"AuthBytes": b"\0alice\0secret"}))
    for key, version, number in ((17, 1, 4), (17, 1, 5), (36, 2, 6)):
        relay.feed("broker", frames.response(key, version, number))
    assert (relay.reason, relay.context.principal) == (None, None)
