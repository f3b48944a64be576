# This module is pure (no I/O, no clock).
"""Lists as JSON, encoded row by row: a page of 30 MB is never in memory whole, nor encoded in one go.

Handlers make the body of a response with it; the connection sends the pieces, and others get their turns in between.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Final, Generic, TypeVar

Row = TypeVar("Row")
_CHUNK: Final = 256


def encode(value: object) -> bytes:
    """JSON of a value; a record becomes an object of its fields."""
    return json.dumps(value, separators=(",", ":"), default=_fields).encode()


def _fields(record: Any) -> dict[str, object]:
    # Not asdict(): it copies deeply, at ten times the price.
    return {name: getattr(record, name) for name in record.__slots__}


def list_body(name: str, rows: Iterable[object | None]) -> Iterator[bytes]:
    """The pieces of `{"name": [rows]}`; a row None is no row, but an empty piece: no row was found yet."""
    yield from _pieces(name, iter(rows))
    yield b"]}\n"


def page_body(name: str, rows: Generator[object | None, None, object]) -> Iterator[bytes]:
    """As `list_body`, with the `next` that the generator of the rows returns."""
    following = yield from _pieces(name, rows)
    yield b'],"next":%b}\n' % encode(following)


def first_rows(found: Iterable[Row], limit: int, place: Callable[[Row], str]) -> Generator[Row, None, str | None]:
    """The first `limit` of one row more than that; returns the place of the last one if there are more."""
    last = None
    for number, row in enumerate(found):
        if number == limit:
            return last
        last = place(row)
        yield row
    return None


def _pieces(name: str, rows: Iterator[object | None]) -> Generator[bytes, None, object]:
    yield b"{%b:[" % encode(name)
    comma = b""
    while True:
        try:
            row = next(rows)
        except StopIteration as stop:
            return stop.value
        if row is None:
            yield b""
            continue
        yield comma + encode(row)
        comma = b","


class Smallest(Generic[Row]):
    """The `count` rows with the smallest keys of all that are added; no call takes long."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._kept: list[tuple[Any, Row]] = []
        """Sorted by key, as far as `_fresh` begins."""
        self._fresh: list[tuple[Any, Row]] = []

    def add(self, key: Any, row: Row) -> None:
        """Add a row. Keys are of one type, and no two rows have the same one."""
        if len(self._kept) == self._count and key > self._kept[-1][0]:
            return
        self._fresh.append((key, row))
        if len(self._fresh) >= _CHUNK:
            self._merge()

    def sorted(self) -> list[tuple[Any, Row]]:
        """The keys and rows, by rising key."""
        self._merge()
        return self._kept

    def _merge(self) -> None:
        merged = sorted([*self._kept, *self._fresh], key=lambda pair: pair[0])
        self._kept = merged[: self._count]
        self._fresh = []
