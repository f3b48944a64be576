"""Walks over frames that arrive in pieces, and the reads that they are made of."""

from __future__ import annotations

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.wire.arriving import ArrivingWalk, behind_string, count_at, length_at, text_at
from kproxy.wire.primitives import uvarint
from tests.support.every import every


class Names(ArrivingWalk):
    """Compact strings, each with a section of tagged fields, up to the string `end`."""

    __slots__ = ("found",)

    def __init__(self) -> None:
        super().__init__()
        self.found: list[bytes] = []

    def _step(self, data: bytes, pos: int) -> int:
        name, pos = text_at(data, pos, True)
        self._tags, pos = count_at(data, pos, True)
        self.found.append(name)
        self._over = name == b"end"
        return pos


def item(name: bytes, *tags: bytes) -> bytes:
    """A name as `Names` reads it; its count of tags is that of an array."""
    fields = b"".join(uvarint(number) + uvarint(len(tag)) + tag for number, tag in enumerate(tags))
    return uvarint(len(name) + 1) + name + uvarint(len(tags) + 1) + fields


FRAME = item(b"a") + item(b"", b"tag", b"t" * 300) + item(b"n" * 200) + item(b"end") + b"behind"


@pytest.mark.parametrize("step", [1, 2, 3, 100, 1000])
def test_each_piece_is_walked_once(step: int) -> None:
    """However the frame is cut, and wherever it begins in the buffer."""
    walk, held = Names(), bytearray(b"size")
    for start in range(0, len(FRAME), step):
        held += FRAME[start : start + step]
        walk.look(held, 4, len(held))
    walk.finish(len(FRAME))
    assert walk.found == [b"a", b"", b"n" * 200, b"end"]
    assert walk.kept == 0


def test_no_byte_is_looked_at_again() -> None:
    """Bytes that were walked may be gone: a frame of many reads costs no more than its bytes."""
    walk, cut = Names(), len(FRAME) - 40
    walk.look(FRAME, 0, cut)
    walk.look(bytes(cut - 300) + FRAME[cut - 300 :], 0, len(FRAME))
    assert walk.found[-1] == b"end"


@every("size", range(len(FRAME) - len(b"behind")))
def test_a_frame_that_ends_early(size: int) -> None:
    """It is malformed once it is known to be whole."""
    walk = Names()
    walk.look(FRAME, 0, size)
    with pytest.raises(MalformedMessageError, match=f"does not end within its {size} bytes"):
        walk.finish(size)


def test_a_last_item_beyond_the_frame() -> None:
    """It is over, but not within the frame."""
    walk = Names()
    walk.look(item(b"end"), 0, 5)
    with pytest.raises(MalformedMessageError):
        walk.finish(4)


@pytest.mark.parametrize(
    ("data", "flexible", "length", "behind"),
    [
        (b"\x00", True, -1, 1),
        (b"\x01", True, 0, 1),
        (b"\x05", True, 4, 1),
        (b"\x80\x02", True, 255, 2),
        (b"\xff\xff", False, -1, 2),
        (b"\x00\x00", False, 0, 2),
        (b"\x7f\xff", False, 32767, 2),
    ],
)
def test_lengths_of_strings(data: bytes, flexible: bool, length: int, behind: int) -> None:
    """Null is -1."""
    assert length_at(data, 0, flexible) == (length, behind)
    assert behind_string(data, 0, flexible) == behind + max(length, 0)


@pytest.mark.parametrize(("data", "flexible"), [(uvarint(0x8001), True), (b"\xff\xfe", False)])
def test_impossible_lengths(data: bytes, flexible: bool) -> None:
    """Longer than Kafka's strings, or negative."""
    with pytest.raises(MalformedMessageError, match="a length of"):
        length_at(data, 0, flexible)


@pytest.mark.parametrize(
    ("data", "flexible", "count"),
    [
        (b"\x00", True, 0),
        (b"\x01", True, 0),
        (b"\xac\x02", True, 299),
        (b"\xff\xff\xff\xff", False, 0),
        (b"\x00\x01\x00\x02", False, 65538),
    ],
)
def test_counts(data: bytes, flexible: bool, count: int) -> None:
    """Null counts as none."""
    assert count_at(data, 0, flexible) == (count, len(data))


def test_an_impossible_count() -> None:
    """Below null."""
    with pytest.raises(MalformedMessageError, match="a length of -2"):
        count_at(b"\xff\xff\xff\xfe", 0, False)


@pytest.mark.parametrize(("data", "text"), [(b"\x00", b""), (b"\x01x", b""), (b"\x03abc", b"ab")])
def test_texts(data: bytes, text: bytes) -> None:
    """Null is as empty."""
    assert text_at(data, 0, True) == (text, 1 + len(text))


def test_a_text_that_is_cut() -> None:
    """It is waited for."""
    with pytest.raises(IndexError):
        text_at(b"\x04ab", 0, True)
