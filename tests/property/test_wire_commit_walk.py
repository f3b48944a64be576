"""A commit that is refused without being decoded: the response is the one that the codecs make, in every version."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.schema import Message
from kproxy.errors import MalformedMessageError
from kproxy.faults.commits import offset_commit, txn_offset_commit
from kproxy.wire.commit_walk import CommitWalk
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.header import RequestHeader, encode_request_header
from tests.property.wire_messages import SCHEMAS, case_id, instances

COMMITS = [SCHEMAS.messages[name] for name in ("OffsetCommitRequest", "TxnOffsetCommitRequest")]
CASES = [(message, version) for message in COMMITS for version in message.versions]
ERRORS = st.integers(1, 0x7FFF)


def by_codec(message: Message, version: int, body: bytes, error: int) -> bytes:
    """The response's body, or `MalformedMessageError`."""
    build: Any = offset_commit if message.api_key == ApiKey.OFFSET_COMMIT else txn_offset_commit
    encoded: bytes = build(version, body, error).encode(version)
    return encoded


def by_walk(message: Message, version: int, body: bytes, error: int, reads: list[int]) -> bytes:
    """The same by a walk over a frame that arrives in reads which end at these positions."""
    assert message.api_key is not None
    frame = head(message.api_key, version) + body
    walk = CommitWalk(message.api_key, version)
    for end in [*sorted(reads), len(frame)]:
        walk.look(frame, 0, min(end, len(frame)))
    walk.finish(len(frame))
    return walk.refused(error)


def head(key: int, version: int) -> bytes:
    return bytes(encode_request_header(RequestHeader(key, version, 5, "a client")))


@pytest.mark.parametrize(("message", "version"), CASES, ids=case_id)
@given(data=st.data(), error=ERRORS, reads=st.lists(st.integers(0, 300), max_size=5))
@settings(max_examples=30)
def test_the_response(message: Message, version: int, data: st.DataObject, error: int, reads: list[int]) -> None:
    """Whatever the commit contains, and however it arrives."""
    body = data.draw(instances(message, version)).encode(version)
    assert by_walk(message, version, body, error, reads) == by_codec(message, version, body, error)


@pytest.mark.parametrize(("message", "version"), CASES, ids=case_id)
@given(data=st.data(), at=st.floats(0, 1, exclude_max=True), reads=st.lists(st.integers(0, 300), max_size=2))
@settings(max_examples=30)
def test_a_commit_that_is_cut(message: Message, version: int, data: st.DataObject, at: float, reads: list[int]) -> None:
    """It has no response, wherever it ends."""
    body = data.draw(instances(message, version)).encode(version)
    with pytest.raises(MalformedMessageError):
        by_walk(message, version, body[: int(at * len(body))], 22, reads)


@pytest.mark.parametrize(("message", "version"), CASES, ids=case_id)
@given(data=st.data())
@settings(max_examples=30)
def test_any_bytes(message: Message, version: int, data: st.DataObject) -> None:
    """What the codecs take, the walk takes, and says the same; nothing but `MalformedMessageError` is raised."""
    body = bytearray(data.draw(instances(message, version)).encode(version))
    for position in data.draw(st.lists(st.integers(0, len(body) - 1), max_size=3)):
        body[position] ^= data.draw(st.integers(1, 255))
    try:
        expected = by_codec(message, version, bytes(body), 22)
    except MalformedMessageError:
        expected = None
    try:
        found = by_walk(message, version, bytes(body), 22, [])
    except MalformedMessageError:
        found = None
    assert expected is None or found == expected
