"""SaslHandshake: v1 passes, v0 is not offered."""

from __future__ import annotations

from kproxy.observe.reasons import Reason
from tests.unit.relay import frames
from tests.unit.relay.flows import play


def test_v1_passes() -> None:
    """The mechanisms are between client and broker; an error is counted."""
    sent = frames.response(17, 1, 5, {"ErrorCode": 33, "Mechanisms": ["SCRAM-SHA-512", "PLAIN"]})
    asked = frames.request(17, 1, 5, {"Mechanism": "PLAIN"})
    relay = play([("client", asked), ("broker", sent)])
    assert (bytes(relay.broker.data), bytes(relay.client.data)) == (asked, sent)
    assert relay.errors() == {(17, 1): {33: 1}}


def test_v0_is_refused_before_the_broker_sees_it() -> None:
    """The detail tells what is served."""
    relay = play([("client", frames.request(17, 0, 5, {"Mechanism": "PLAIN"}))])
    assert (relay.reason, bytes(relay.broker.data)) == (Reason.UNSUPPORTED_VERSION, b"")
    assert "1..1" in relay.detail
