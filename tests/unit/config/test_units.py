"""kproxy.config.units: numbers with bounds, seconds and bytes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproxy.config import Limits, Timeouts
from kproxy.config.units import DURATION_PATTERN, SIZE_PATTERN, parse_bytes, parse_seconds, parse_whole


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("10s", 10.0),
        ("500ms", 0.5),
        ("2m", 120.0),
        ("1h", 3600.0),
        ("7", 7.0),
        (" 1.5 s ", 1.5),
        ("0.1s", 0.1),
        (3, 3.0),
    ],
)
def test_seconds(written: object, seconds: float) -> None:
    """Durations as people write them, exact to the last digit."""
    assert Timeouts.model_validate({"connect": written}).connect == seconds


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("100MiB", 104857600),
        ("64KiB", 65536),
        ("1.5kib", 1536),
        ("64kB", 64000),
        ("1gb", 10**9),
        ("5", 5),
        ("5B", 5),
        (9, 9),
    ],
)
def test_bytes(written: object, size: int) -> None:
    """Sizes as people write them; Ki is 1024, k is 1000."""
    assert Limits.model_validate({"max_held_bytes": written}).max_held_bytes == size


@pytest.mark.parametrize("written", ["", "s", "10 seconds", "1m30s", "-1s", "1e3", "10S", "inf", "nan", "1,5s", True])
def test_no_durations(written: object) -> None:
    """Anything else is refused with an example of the right form."""
    with pytest.raises(ValueError, match="is not a duration; write seconds, or for instance 500ms"):
        parse_seconds(written)


@pytest.mark.parametrize("written", ["", "MiB", "1TiB", "-1", "1 k b", "0x10", False])
def test_no_sizes(written: object) -> None:
    """Anything else is refused with an example of the right form."""
    with pytest.raises(ValueError, match="is not a size; write bytes, or for instance 64KiB"):
        parse_bytes(written)


def test_part_of_a_byte_is_no_size() -> None:
    """Rounding would hide a mistake."""
    with pytest.raises(ValueError, match=r"'1\.5B' is not a whole number of bytes"):
        parse_bytes("1.5B")


def test_what_is_no_text_passes_on() -> None:
    """pydantic checks the types; only values that it would misread are refused before."""
    assert parse_seconds([1]) == parse_bytes([1]) == parse_whole([1]) == [1]


@given(st.from_regex(DURATION_PATTERN))
def test_every_duration_that_the_schema_allows_is_read(text: str) -> None:
    """kproxy accepts every duration that fits the pattern of the schema, which editors check."""
    assert parse_seconds(text) >= 0


@given(st.from_regex(r"^\s*[0-9]{1,18} *([kKmMgG][iI]?)?[bB]\s*$"))
def test_every_size_that_the_schema_allows_is_read(text: str) -> None:
    """kproxy accepts every size that fits the pattern of the schema, except fractions of a byte."""
    assert re.search(SIZE_PATTERN, text)
    assert parse_bytes(text) >= 0
