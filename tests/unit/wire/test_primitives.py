"""kproxy.wire.primitives: varints."""

from __future__ import annotations

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.wire.primitives import read_uvarint, uvarint


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"), (0x7FFFFFFF, "ffffffff07")],
)
def test_uvarint_both_ways(value: int, encoded: str) -> None:
    """Known encodings are read and written, at any position."""
    raw = bytes.fromhex(encoded)
    assert uvarint(value) == raw
    assert read_uvarint(b"." + raw + b".", 1) == (value, 1 + len(raw))


def test_uvarint_may_be_longer_than_it_takes() -> None:
    """Kafka accepts such a form, so kproxy does."""
    assert read_uvarint(b"\x81\x80\x00", 0) == (1, 3)


@pytest.mark.parametrize(
    "raw", [b"\x80\x80\x80\x80\x80\x00", b"\xff\xff\xff\xff\x0f"], ids=["six bytes", "above int32"]
)
def test_uvarint_out_of_range(raw: bytes) -> None:
    """Values above int32 are refused."""
    with pytest.raises(MalformedMessageError, match="varint"):
        read_uvarint(raw, 0)


def test_uvarint_cut_short() -> None:
    """Missing bytes raise IndexError, which `decode` turns into MalformedMessageError."""
    with pytest.raises(IndexError):
        read_uvarint(b"\x80", 0)
