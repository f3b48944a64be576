"""kproxy.wire.records: changes of a CRC-32C, compared with a library that reads every byte."""

from __future__ import annotations

import google_crc32c
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproxy.wire.records import crc32c_difference

BITS = st.integers(0, (1 << 64) - 1)


@given(st.binary(max_size=100), BITS, st.binary(max_size=5000))
def test_eight_bytes_differ(before: bytes, bits: int, behind: bytes) -> None:
    """The change is right for any bytes around them."""
    changed = before + bits.to_bytes(8, "big") + behind
    expected = google_crc32c.value(changed) ^ google_crc32c.value(before + bytes(8) + behind)
    assert crc32c_difference(bits, len(behind)) == expected


@pytest.mark.parametrize("behind", [0, 1, (1 << 20) - 1, 1 << 20, 3 << 20])
def test_far_from_the_end(behind: int) -> None:
    """The change is right for as many bytes as a large batch has."""
    zeros = bytes(behind)
    expected = google_crc32c.value(b"\x40" + bytes(7) + zeros) ^ google_crc32c.value(bytes(8) + zeros)
    assert crc32c_difference(1 << 62, behind) == expected


def test_nothing_differs() -> None:
    """Without a difference, the checksum does not change."""
    assert crc32c_difference(0, 1000) == 0
