"""kproxy.wire.primitives: frames."""

from __future__ import annotations

from kproxy.wire.primitives import frame


def test_frame() -> None:
    """The size in front counts all chunks, but not itself."""
    assert frame(b"ab", memoryview(b"cde"), bytearray()) == b"\x00\x00\x00\x05abcde"
    assert frame() == b"\x00\x00\x00\x00"
