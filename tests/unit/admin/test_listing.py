"""kproxy.admin.listing: JSON by rows, and the smallest of many."""

from __future__ import annotations

import json
import random
from collections.abc import Generator
from dataclasses import dataclass

import pytest

from kproxy.admin.listing import Smallest, encode, list_body, page_body


@dataclass(frozen=True, slots=True)
class Record:
    name: str
    inner: tuple[Record, ...] = ()


def test_records_are_objects() -> None:
    """With those within them."""
    assert encode(Record("ä", (Record("b"),))) == b'{"name":"\\u00e4","inner":[{"name":"b","inner":[]}]}'


@pytest.mark.parametrize("rows", [[], [None], [1], [1, None, None, {"a": "b"}, None]])
def test_a_list(rows: list[object | None]) -> None:
    """The same JSON as in one go, in a piece for each row; None is an empty piece."""
    pieces = list(list_body("rows", rows))
    assert json.loads(b"".join(pieces)) == {"rows": [row for row in rows if row is not None]}
    assert len(pieces) == len(rows) + 2
    assert pieces.count(b"") == rows.count(None)


@pytest.mark.parametrize("following", [None, 7, 'a"b'])
def test_a_page(following: object) -> None:
    """`next` is what the rows' generator returns at its end."""

    def rows() -> Generator[object | None, None, object]:
        yield 1
        yield 2
        return following

    assert json.loads(b"".join(page_body("rows", rows()))) == {"rows": [1, 2], "next": following}


@pytest.mark.parametrize("count", [1, 7, 300])
@pytest.mark.parametrize("total", [0, 1, 255, 256, 5000])
def test_the_smallest(count: int, total: int) -> None:
    """As sorting all would find them, in whatever order they come."""
    keys = list(range(total))
    random.Random(total).shuffle(keys)
    smallest: Smallest[str] = Smallest(count)
    for key in keys:
        smallest.add(key, str(key))
    assert smallest.sorted() == [(key, str(key)) for key in range(min(count, total))]
