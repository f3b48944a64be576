"""Gzip files of JSON lines as records, one a line; what cannot be read becomes a record with the reason."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import pyarrow as pa

RECORDS: Final = pa.schema(
    [
        ("origin", pa.string()),
        ("position", pa.int64()),
        ("line", pa.string()),
        ("problem", pa.string()),
        ("raw", pa.binary()),
    ]
)
"""A record has a line, or a problem and the bytes that have it."""

_GZIP_MAGIC: Final = b"\x1f\x8b"
_ANY_MEMBER: Final = 31
_CHUNK: Final = 1 << 20
_ROWS: Final = 2_000


class Line(NamedTuple):
    """A line of a file, or what is wrong there."""

    number: int
    text: str | None
    problem: str | None = None
    raw: bytes | None = None


def records(files: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the records of files, given as batches of `path` and `content`."""
    for batch in files:
        for path, content in zip(batch["path"], batch["content"], strict=True):
            yield from _batches(path.as_py(), lines(content.as_buffer()))


def _batches(path: str, of: Iterator[Line]) -> Iterator[pa.RecordBatch]:
    rows: list[Line] = []
    for line in of:
        rows.append(line)
        if len(rows) == _ROWS:
            yield _batch(path, rows)
            rows.clear()
    if rows:
        yield _batch(path, rows)


def _batch(path: str, rows: list[Line]) -> pa.RecordBatch:
    columns = [[path] * len(rows), *zip(*rows, strict=True)]
    return pa.RecordBatch.from_arrays(
        [pa.array(c, f.type) for c, f in zip(columns, RECORDS, strict=True)], schema=RECORDS
    )


def lines(content: memoryview | bytes) -> Iterator[Line]:
    """Yield the lines of a file, numbered from 1; empty ones are left out."""
    number, rest = 0, b""
    try:
        for piece in _inflated(memoryview(content)):
            *whole, rest = (rest + piece).split(b"\n")
            for each in whole:
                number += 1
                if each.strip():
                    yield _line(number, each)
    except zlib.error as error:
        yield Line(number + 1, None, f"broken gzip after {number} lines: {error}", rest)
        return
    except EOFError:
        yield Line(number + 1, None, f"truncated gzip after {number} lines: the file ends too early", rest)
        return
    if rest.strip():
        yield _line(number + 1, rest)


def _line(number: int, text: bytes) -> Line:
    try:
        return Line(number, text.decode())
    except UnicodeDecodeError as error:
        return Line(number, None, f"not UTF-8: {error.reason} at byte {error.start}", text)


def _inflated(content: memoryview) -> Iterator[bytes]:
    """Yield the content, decompressed if it is gzip. Raises zlib.error, and EOFError for a member without its end."""
    if bytes(content[:2]) != _GZIP_MAGIC:
        yield bytes(content)
        return
    while len(content):
        member = zlib.decompressobj(_ANY_MEMBER)
        while not member.eof:
            piece = member.decompress(content[:_CHUNK], _CHUNK)
            # At its end a member that was given in several pieces has what follows in both of them.
            left = member.unused_data if member.eof else member.unconsumed_tail
            used = min(len(content), _CHUNK) - len(left)
            content = content[used:]
            if piece:
                yield piece
            elif not used:
                raise EOFError
