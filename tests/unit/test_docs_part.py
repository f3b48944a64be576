"""kproxy.docs_part: what stands between the two marks of a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from kproxy.docs_part import with_part

PAGE = Path("docs", "a.md")


def test_only_what_is_between_the_marks_is_replaced() -> None:
    """The marks stay, and what people have written around them."""
    assert with_part(PAGE, "before<b>old</b>after<b>", "<b>", "new", "</b>") == "before<b>new</b>after<b>"


@pytest.mark.parametrize("page", ["", "<b>", "</b>", "</b><b>"])
def test_a_mark_that_is_missing(page: str) -> None:
    """The page and both marks are named."""
    with pytest.raises(ValueError, match=r"docs/a\.md: there must be '<b>' and '</b>'"):
        with_part(PAGE, page, "<b>", "new", "</b>")
