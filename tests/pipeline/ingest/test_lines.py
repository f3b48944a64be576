"""kproxy.pipeline.ingest.lines: files, whole and broken."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pytest

from kproxy.pipeline.ingest.lines import Line, lines, records

MEMBERS = gzip.compress(b"one\ntwo\n") + gzip.compress(b"three\n")


def test_members_are_one_file() -> None:
    """kproxy appends a gzip member for each batch."""
    assert list(lines(MEMBERS)) == [Line(1, "one"), Line(2, "two"), Line(3, "three")]


def test_a_file_that_is_not_compressed() -> None:
    """As it is; empty lines count, but are no records; the last line needs no newline."""
    assert list(lines(b"one\n\ntwo")) == [Line(1, "one"), Line(3, "two")]
    assert list(lines(b"")) == []


def test_a_line_longer_than_a_piece() -> None:
    """Decompressed piece by piece, a line is whole all the same."""
    text = "é" * (3 << 20)
    assert list(lines(gzip.compress(f"{text}\nend\n".encode()))) == [Line(1, text), Line(2, "end")]


@pytest.mark.parametrize("size", [(1 << 20) - 4, 1 << 20, 3 << 20])
def test_a_member_longer_than_a_piece_has_others_behind_it(size: int) -> None:
    """A batch of pushes is that long as JSON."""
    text = "x" * size
    members = gzip.compress(f"{text}\n".encode()) + gzip.compress(f"{text}\nmore\n".encode()) + gzip.compress(b"end\n")
    assert list(lines(members)) == [Line(1, text), Line(2, text), Line(3, "more"), Line(4, "end")]


@pytest.mark.parametrize("size", range(len(MEMBERS)))
def test_a_truncated_file(size: int) -> None:
    """Cut anywhere: the lines before the cut, and a record that says so. A cut between members cannot be seen."""
    found = list(lines(MEMBERS[:size]))
    whole = [line for line in found if line.problem is None]
    broken = [line for line in found if line.problem is not None]
    if size > 2:
        assert whole == list(lines(MEMBERS))[: len(whole)]
        between = size == len(gzip.compress(b"one\ntwo\n"))
        assert len(broken) == (not between)
    assert len(broken) <= 1


def test_a_broken_file_says_after_which_line() -> None:
    """What follows the first broken member is not read."""
    (*whole, broken) = lines(gzip.compress(b"one\n") + b"\x1f\x8bnonsense")
    assert whole == [Line(1, "one")]
    assert broken.number == 2
    assert (broken.problem or "").startswith("broken gzip after 1 lines: ")


def test_text_that_is_not_utf8() -> None:
    """The line is kept as bytes, with the reason; the others are read."""
    assert list(lines(b"\xff\nfine\n")) == [
        Line(1, None, "not UTF-8: invalid start byte at byte 0", b"\xff"),
        Line(2, "fine"),
    ]


def test_records_come_in_batches() -> None:
    """Every line of every file, with its path and number."""
    files = pa.RecordBatch.from_pydict({"path": ["a", "b"], "content": [gzip.compress(b"x\n" * 4_100), b"y"]})
    batches = list(records([files]))
    assert [len(batch) for batch in batches] == [2_000, 2_000, 100, 1]
    assert batches[-1].to_pylist() == [{"origin": "b", "position": 1, "line": "y", "problem": None, "raw": None}]
