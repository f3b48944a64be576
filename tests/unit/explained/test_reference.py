"""kproxy.explained.reference: docs/errors.md has every code and every class."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kproxy.errors import ErrorClass
from kproxy.explained import reference
from kproxy.explained.errors import TEXTS
from kproxy.wire.generated.error_codes import ErrorCode

ROOT = Path(__file__).parents[3]


def test_the_page_is_up_to_date() -> None:
    """`make generate` changes nothing, and each code has its row in order."""
    text = (ROOT / reference.PAGE).read_text(encoding="utf-8")
    assert reference.with_errors(text) == text
    assert re.findall(r'^\| <a id="error(-?\d+)"></a>\1 \| `(\w+)`', text, re.MULTILINE) == [
        (str(code.value), code.name) for code in ErrorCode
    ]


def test_tables_are_whole() -> None:
    """Each row has as many cells as its head, each class its row, and each error of kproxy's own is listed."""
    tables = reference.with_errors(reference._BEGIN + reference._END).split("## ")[1:]
    assert [table.partition("\n")[0] for table in tables] == ["Classes", "Codes", "Errors of kproxy's own"]
    rows = [[row for row in table.splitlines() if row.startswith("|")] for table in tables]
    for table in rows:
        assert {row.count("|") for row in table} == {table[0].count("|")}
    own = sum(1 for text in TEXTS.values() if text.kproxy)
    assert [len(table) - 2 for table in rows] == [len(ErrorClass), len(ErrorCode), own]


def test_what_texts_refer_to_is_there() -> None:
    """A page that a text names exists."""
    texts = [part for text in TEXTS.values() for part in (text.client, text.kproxy, text.advice)]
    named = {page for text in texts for page in re.findall(r"docs/[\w-]+\.md", text)}
    assert named
    assert [page for page in named if not (ROOT / page).exists()] == []


@pytest.mark.parametrize("page", ["", reference._BEGIN, reference._END])
def test_a_page_without_its_marks(page: str) -> None:
    """It is left as it is."""
    with pytest.raises(ValueError, match=r"docs/errors\.md: there must be"):
        reference.with_errors(page)
