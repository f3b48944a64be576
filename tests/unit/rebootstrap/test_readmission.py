"""Members of a group that the present cluster does not know join again, and do not stop for good."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kproxy.observe.reasons import Reason
from kproxy.rebootstrap.coordinators import NEWER
from kproxy.wire.generated.error_codes import ErrorCode
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, Relay, Script, play

HEARTBEATS = [(key, version) for key in NEWER for version in frames.versions(key)]


def answered(key: int, version: int, code: int, tags: tuple[tuple[int, bytes], ...] = ()) -> bytes:
    return frames.response(key, version, 5, {"ErrorCode": code, "ErrorMessage": "Group g not found."}, tags)


def exchange(key: int, version: int, said: bytes) -> Script:
    return [("client", frames.request(key, version, 5)), ("broker", said)]


def of_epoch(epoch: int) -> Callable[[], Relay]:
    """Return a maker of connections accepted in this epoch, which is the present one."""

    def make() -> Relay:
        cluster = Cluster()
        cluster.epoch = epoch
        return Relay(cluster)

    return make


@every(("key", "version"), HEARTBEATS)
@pytest.mark.parametrize("tags", [(), ((7, b"tag"),)])
def test_a_group_that_is_not_there_is_joined_again(key: int, version: int, tags: tuple[tuple[int, bytes], ...]) -> None:
    """25 replaces 69, and no other byte is changed; the broker's own error is counted."""
    relay = play(exchange(key, version, answered(key, version, ErrorCode.GROUP_ID_NOT_FOUND, tags)), of_epoch(1))
    assert bytes(relay.client.data) == answered(key, version, ErrorCode.UNKNOWN_MEMBER_ID, tags)
    assert relay.errors() == {(key, version): {ErrorCode.GROUP_ID_NOT_FOUND: 1}}


@every(("key", "version"), HEARTBEATS)
@pytest.mark.parametrize(
    ("epoch", "code"),
    [
        (0, ErrorCode.GROUP_ID_NOT_FOUND),
        (0, 0),
        (1, 0),
        (1, ErrorCode.NOT_COORDINATOR),
        (2, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_all_else_is_as_the_broker_says(key: int, version: int, epoch: int, code: int) -> None:
    """Every other error is; and every error before the first epoch ends, since the member joined at this cluster."""
    said = answered(key, version, code)
    relay = play(exchange(key, version, said), of_epoch(epoch))
    assert bytes(relay.client.data) == said
    assert relay.errors() == ({(key, version): {code: 1}} if code else {})


@every(("key", "version"), HEARTBEATS)
@pytest.mark.parametrize("size", [0, 1, 5])
def test_a_response_without_an_error_code(key: int, version: int, size: int) -> None:
    """The connection ends, and nothing of the response is sent on."""
    relay = play(exchange(key, version, frames.raw_response(key, version, 5, bytes(size))), of_epoch(1))
    assert (relay.reason, bytes(relay.client.data)) == (Reason.MALFORMED_RESPONSE, b"")
