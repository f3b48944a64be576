"""kproxy.pipeline.reference: the docs name every column."""

from __future__ import annotations

from pathlib import Path

import pytest

from kproxy.pipeline import reference, tables


def test_the_page_is_up_to_date() -> None:
    """`make generate` changes nothing."""
    page = Path(__file__).parents[3] / reference.PAGE
    text = page.read_text(encoding="utf-8")
    assert reference.with_columns(text) == text


def test_every_column_is_there() -> None:
    """Of every table, with its type."""
    page = reference.with_columns(f"{reference._BEGIN}none of its columns\n{reference._END}after\n")
    assert "none of its columns" not in page
    assert page.endswith("after\n")
    for table in tables.TABLES.values():
        assert f"### {table.name}\n" in page
        assert all(f"| `{column.name}` | `{column.kind}` |" in page for column in table.columns)


@pytest.mark.parametrize("page", ["", reference._BEGIN, reference._END])
def test_a_page_without_its_marks(page: str) -> None:
    """It is left as it is."""
    with pytest.raises(ValueError, match=r"docs/pipeline\.md: there must be"):
        reference.with_columns(page)


def test_comments_fit_into_sql() -> None:
    """`Table.ddl` quotes them as they are."""
    for table in tables.TABLES.values():
        assert not [column.help for column in table.columns if "'" in column.help or "\\" in column.help]
        assert table.ddl.count("COMMENT") == len(table.columns)
        assert len(set(table.names)) == len(table.names)
