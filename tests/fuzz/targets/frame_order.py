"""What must be true of the frames of a connection, whatever its peers send.

What no room reads goes to the broker as the client sent it, and in its order. The client's responses come in the order
of its requests, each in a frame of its stated size. What no room reads of them is the broker's.

This reads frames by itself: none of kproxy's code is used.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.fuzz.targets.target import ViolationError

PRODUCE = 0
ASKED_BY_KPROXY = frozenset({3, 18, 60})
"""Metadata, ApiVersions, DescribeCluster: a request of these may be a question of kproxy's own."""
_HEAD = struct.Struct(">ihhi")


class Request(NamedTuple):
    """A request as the client sent it: its bytes with the size, as far as they came."""

    key: int
    correlation_id: int
    data: bytes


def split(data: bytes) -> Iterator[bytes]:
    """Yield each frame with its size. The last may be cut off; what follows a size below zero is no frame."""
    pos = 0
    while pos + 4 <= len(data):
        size = int.from_bytes(data[pos : pos + 4], "big", signed=True)
        if size < 0:
            return
        yield data[pos : pos + 4 + size]
        pos += 4 + size


def requests(from_client: bytes) -> list[Request]:
    """Return the requests whose head has come."""
    found = []
    for one in split(from_client):
        if len(one) >= _HEAD.size:
            _, key, _, correlation_id = _HEAD.unpack_from(one)
            found.append(Request(key, correlation_id, one))
    return found


def check_requests(sent: Sequence[Request], to_broker: bytes, plain: frozenset[int]) -> None:
    """Check that the `plain` APIs' requests are passed on unchanged, in order, none twice and none left out."""
    plain = plain - ASKED_BY_KPROXY
    expected = iter([one.data for one in sent if one.key in plain])
    for one in split(to_broker):
        if len(one) >= _HEAD.size and _HEAD.unpack_from(one)[1] in plain and not _begins(next(expected, b""), one):
            raise ViolationError("the broker got a request that the client did not send there")


def check_responses(sent: Sequence[Request], from_broker: bytes, to_client: bytes, unread: frozenset[int]) -> None:
    """Check the order of the client's responses, and that those of the `unread` APIs are the broker's."""
    places, given = {0}, split(from_broker)
    for one in split(to_client):
        if len(one) < 8:
            continue
        (correlation_id,) = struct.unpack_from(">i", one, 4)
        answered = {at for place in places for at in _answered(sent, place, correlation_id)}
        if not answered:
            raise ViolationError(f"response {correlation_id} is not due after {len(sent)} requests, at {places}")
        broker_answers = all(sent[at].key in unread - ASKED_BY_KPROXY for at in answered)
        if broker_answers and not any(_begins(frame, one) for frame in given):
            raise ViolationError(f"response {correlation_id} is not the broker's")
        places = {at + 1 for at in answered}


def _answered(sent: Sequence[Request], place: int, correlation_id: int) -> Iterator[int]:
    """Yield which requests the next response may answer, by its id; only Produce requests (acks=0) may go without."""
    for at in range(place, len(sent)):
        if sent[at].correlation_id == correlation_id:
            yield at
        if sent[at].key != PRODUCE:
            return


def _begins(whole: bytes, part: bytes) -> bool:
    return whole.startswith(part)
