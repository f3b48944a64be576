"""Every codec in every version: what is encoded is decoded, and what was decoded is encoded to the same bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.schema import Message
from kproxy.wire.header import RequestHeader, decode_request_header, encode_request_header
from tests.property.wire_messages import CASES, case_id, class_of, instances


@pytest.mark.parametrize(("message", "version"), CASES, ids=case_id)
@given(data=st.data())
@settings(max_examples=15)
def test_round_trip_is_exact(message: Message, version: int, data: st.DataObject) -> None:
    """Objects and bytes both survive, unknown tagged fields included."""
    value = data.draw(instances(message, version))
    encoded = value.encode(version)
    decoded = class_of(message).decode(encoded, version)
    assert decoded == value
    assert decoded.encode(version) == encoded
    assert class_of(message).decode(memoryview(bytearray(encoded)), version) == value
    assert class_of(message).decode(encoded + b"\0\1\2\3", version) == value


@given(
    st.builds(
        RequestHeader,
        st.sampled_from([0, 3, 17, 18]),
        st.integers(0, 20),
        st.integers(-(2**31), 2**31 - 1),
        st.none() | st.text(max_size=200),
        st.just(()),
    ),
    st.dictionaries(st.integers(0, 2**31 - 1), st.binary(max_size=200), max_size=3),
    st.binary(max_size=5),
    st.binary(max_size=5),
)
def test_request_header_round_trip_is_exact(
    header: RequestHeader, tags: dict[int, bytes], before: bytes, body: bytes
) -> None:
    """A header is found at any place of a buffer, and its end with it."""
    if header.api_version >= 9 and header.api_key in (0, 3):
        header = header._replace(tags=tuple(sorted(tags.items())))
    encoded = encode_request_header(header)
    frame = before + encoded + body
    assert decode_request_header(frame, len(before), len(frame)) == (header, len(before) + len(encoded))
