"""FrameSplitter: whole, bytewise, with trailing data; impossible sizes are refused at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproxy.errors import MalformedMessageError
from kproxy.upstream.frames import FrameSplitter
from kproxy.wire.primitives import frame

FRAMES = st.lists(st.binary(min_size=4, max_size=200), max_size=8)


@given(FRAMES, st.lists(st.integers(1, 64), min_size=1), st.binary(max_size=3))
def test_any_cut_gives_the_same_frames(bodies: list[bytes], cuts: list[int], rest: bytes) -> None:
    """However the stream is cut, the frames are those that were sent, and the rest is known to be incomplete."""
    stream, splitter, pos = b"".join(map(frame, bodies)) + rest, FrameSplitter(200), 0
    found: list[bytes] = []
    while pos < len(stream):
        step = cuts[pos % len(cuts)]
        found += splitter.feed(stream[pos : pos + step])
        pos += step
    assert found == bodies
    assert splitter.pending == len(rest)


@pytest.mark.parametrize("size", [-1, -(2**31), 0, 3, 101, 2**31 - 1])
def test_an_impossible_size_is_refused_before_its_body(size: int) -> None:
    """Four bytes are enough to refuse a size that is negative, too small for a correlation id, or over the limit."""
    with pytest.raises(MalformedMessageError, match=f"{size} bytes, where 4 to 100 are allowed"):
        list(FrameSplitter(100).feed(size.to_bytes(4, "big", signed=True)))


@pytest.mark.parametrize("size", [4, 100])
def test_the_limits_themselves_are_allowed(size: int) -> None:
    """The smallest and the largest size pass."""
    assert list(FrameSplitter(100).feed(frame(bytes(size)))) == [bytes(size)]


def test_frames_before_an_impossible_one_are_given() -> None:
    """What was complete before the stream went wrong is not lost."""
    frames = FrameSplitter(100).feed(frame(b"good") + b"\xff" * 4)
    assert next(frames) == b"good"
    with pytest.raises(MalformedMessageError):
        next(frames)
