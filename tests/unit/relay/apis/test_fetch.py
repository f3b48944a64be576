"""Fetch: new leaders behind the records get the proxy's addresses. For what streams see test_forwarding."""

from __future__ import annotations

import pytest

from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import Relay, play, port_of, whole


@pytest.mark.parametrize("version", frames.versions(1, 16))
def test_new_leaders_in_a_small_response(version: int) -> None:
    """A response that is there at once is rewritten, whatever the length of the proxy's host."""
    relay = Relay()
    relay.cluster.host = "p" * 200
    sent = frames.fetched(version, 5, [(6, None), (0, b"r" * 300), (74, b"")], frames.BROKERS)
    relay.play([("client", frames.request(1, version, 5)), ("broker", sent)], whole)
    read = frames.understood(1, version, bytes(relay.client.data[4:]))
    assert frames.named(read["NodeEndpoints"]) == [(node, "p" * 200, port_of(node)) for node, _, _ in frames.BROKERS]
    assert read["Responses"] == frames.understood(1, version, sent[4:])["Responses"]
    assert relay.errors() == {(1, version): {6: 1, 74: 1}}


@every("version", [version for version in frames.versions(1) if version < 16])
def test_older_versions_pass_untouched(version: int) -> None:
    """They name no node; the partitions' codes are counted, and from v7 on the top-level one."""
    sent = frames.fetched(version, 5, [(6, b"r" * 500), (0, None)], ErrorCode=71)
    relay = play([("client", frames.request(1, version, 5)), ("broker", sent)])
    assert relay.client.data == sent
    assert relay.errors() == {(1, version): {6: 1} | ({71: 1} if version >= 7 else {})}


@pytest.mark.parametrize("version", frames.versions(1, 16))
def test_errors_at_both_levels(version: int) -> None:
    """The top-level code and the partitions' are counted the same, whole and streamed."""
    sent = frames.fetched(version, 5, [(6, b"r" * 500), (6, b""), (31999, None)], ErrorCode=71)
    relay = play([("client", frames.request(1, version, 5)), ("broker", sent)])
    assert relay.errors() == {(1, version): {71: 1, 6: 2, 31999: 1}}
