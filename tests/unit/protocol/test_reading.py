"""Reads of fields in messages that are not decoded."""

from __future__ import annotations

import struct

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.protocol.reading import compact_string, text, well_formed


@pytest.mark.parametrize(
    ("data", "found", "end"),
    [
        (b"\0rest", None, 1),
        (b"\x01rest", "", 1),
        (b"\x05h\xc3\xb6\xc3rest"[:4] + b"xrest", "höx", 5),
        (b"\xad\x02" + b"c" * 300, "c" * 300, 302),
    ],
)
def test_a_compact_string(data: bytes, found: str | None, end: int) -> None:
    """Null, empty, and with a length of more than one byte; returned with the position behind it."""
    assert compact_string(b"head" + data, 4) == (found, 4 + end)


def test_a_text_that_is_not_all_there() -> None:
    """The text is not cut short: the read raises."""
    assert text(b"abc", 1, 2) == ("bc", 3)
    with pytest.raises(MalformedMessageError):
        text(b"abc", 1, 3)


@pytest.mark.parametrize(
    "error", [IndexError("i"), struct.error("s"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "start")]
)
def test_what_reads_raise_is_malformed(error: Exception) -> None:
    """The error names the message; an exception that no read raises stays as it is."""
    with pytest.raises(MalformedMessageError, match="Metadata response: "), well_formed("Metadata response"):
        raise error
    with pytest.raises(ZeroDivisionError), well_formed("Metadata response"):
        raise ZeroDivisionError
