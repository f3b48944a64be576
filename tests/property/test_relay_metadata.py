"""Metadata of any shape, version and cut for a client that must see no epochs, or no topic ids; the rest stays."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kproxy.wire.generated.metadata_response import MetadataResponse
from tests.property.test_relay_flows import pieces
from tests.unit.rebootstrap import test_metadata as unit
from tests.unit.rebootstrap.test_leader_epochs import as_of, without_epochs, without_ids
from tests.unit.rebootstrap.test_topics import MESSAGES
from tests.unit.relay import frames
from tests.unit.relay.flows import Relay

_STEPS = st.lists(st.integers(1, 700), min_size=1, max_size=30)


def fed(relay: Relay, response: MetadataResponse, version: int, steps: list[int]) -> bytes:
    """What a client gets of the response, which arrives in pieces."""
    content = {"Topics": [{"Name": "orders", "TopicId": bytes(16)}]} if version == 13 else None
    relay.feed("client", frames.request(3, version, 5, content))
    for piece in pieces(unit.answer(response, version, header=b"\0" if version >= 9 else b""), steps):
        relay.feed("broker", piece)
    assert relay.reason is None
    return bytes(relay.client.data)


@given(kind=st.sampled_from(sorted(MESSAGES)), version=st.integers(0, 13), hides=st.booleans(), steps=_STEPS)
def test_what_a_client_must_not_see(kind: str, version: int, hides: bool, steps: list[int]) -> None:
    """Before v7 there is nothing to hide; the relay's unit tests have each shape in one version only."""
    response = as_of(MESSAGES[kind], version)
    response = response if version >= 7 else without_epochs(response)
    expected = (without_ids if hides else without_epochs)(response)
    header = b"\0" if version >= 9 else b""
    relay = unit.hiding() if hides else unit.forgetful()
    assert fed(relay, response, version, steps) == unit.answer(unit.advertised(expected), version, header=header)
