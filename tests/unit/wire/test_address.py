"""kproxy.wire.address: replacing addresses."""

from __future__ import annotations

import pytest

from kproxy.wire.address import (
    COMPACT_INT32,
    COMPACT_UINT16,
    STRING_INT32,
    Address,
    replace_addresses,
)

BODY = b"head" + b"\x00\x02b1\x00\x00\x23\x84" + b"tail"
ADDRESS = Address(1, "b1", 9092, 4, 12, STRING_INT32, None)


def test_untouched_spans_are_not_copied() -> None:
    """Unchanged chunks are views of the buffer."""
    chunks = replace_addresses(BODY, 0, len(BODY), [ADDRESS], [("kproxy", 19092)])
    assert b"".join(chunks) == b"head" + b"\x00\x06kproxy\x00\x00\x4a\x94" + b"tail"
    assert all(chunk.obj is BODY for chunk in chunks if isinstance(chunk, memoryview))


def test_nothing_to_replace() -> None:
    """Without addresses, the result is the unchanged body."""
    assert [bytes(chunk) for chunk in replace_addresses(BODY, 4, 12, [], [])] == [BODY[4:12]]


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (STRING_INT32, b"\x00\x01k\x00\x00\x00\x50"),
        (COMPACT_INT32, b"\x02k\x00\x00\x00\x50"),
        (COMPACT_UINT16, b"\x02k\x00\x50"),
    ],
)
def test_layouts(layout: int, expected: bytes) -> None:
    """Kafka encodes addresses in three ways."""
    chunks = replace_addresses(BODY, 4, 12, [ADDRESS._replace(layout=layout)], [("k", 80)])
    assert b"".join(chunks) == expected


def test_size_of_the_tagged_field_around() -> None:
    """The size grows with its content, even by a byte of its own, and is updated once for all addresses within."""
    body = b"\x0c" + b"\x02a\x00\x00\x00\x01" + b"\x02b\x00\x00\x00\x02" + b"tail"
    first = Address(1, "a", 1, 1, 7, COMPACT_INT32, (0, 1))
    second = Address(2, "b", 2, 7, 13, COMPACT_INT32, (0, 1))
    host = "h" * 70
    spliced = b"".join(replace_addresses(body, 0, len(body), [first, second], [(host, 1), (host, 2)]))
    assert spliced == b"\x96\x01" + b"G" + host.encode() + b"\0\0\0\1" + b"G" + host.encode() + b"\0\0\0\2" + b"tail"


@pytest.mark.parametrize(("host", "port"), [("k", 65536), ("k", -1)])
def test_port_that_does_not_fit(host: str, port: int) -> None:
    """The error has the address."""
    with pytest.raises(ValueError, match=f"{host}:{port}"):
        replace_addresses(BODY, 4, 12, [ADDRESS._replace(layout=COMPACT_UINT16)], [(host, port)])


def test_as_many_replacements_as_addresses() -> None:
    """A missing replacement is refused: it would shift all that follow."""
    with pytest.raises(ValueError, match="argument"):
        replace_addresses(BODY, 0, len(BODY), [ADDRESS], [])
