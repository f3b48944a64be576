"""kproxy.pipeline.findings.reference: the page has every rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from kproxy.pipeline.findings import reference
from kproxy.pipeline.findings.rules import RULES


def test_the_page_is_up_to_date() -> None:
    """`make generate` changes nothing."""
    text = (Path(__file__).parents[4] / reference.PAGE).read_text(encoding="utf-8")
    assert reference.with_rules(text) == text
    assert not [rule.name for rule in RULES if f"\n### {rule.name}\n" not in text]


@pytest.mark.parametrize("page", ["", reference._BEGIN, reference._END])
def test_a_page_without_its_marks(page: str) -> None:
    """It is left as it is."""
    with pytest.raises(ValueError, match=r"docs/findings\.md: there must be"):
        reference.with_rules(page)
