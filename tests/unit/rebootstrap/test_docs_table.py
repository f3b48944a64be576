"""The page for people matches what the code decides."""

from __future__ import annotations

from pathlib import Path

from kproxy.rebootstrap.decisions import RULES
from kproxy.rebootstrap.docs_table import PAGE, page, write

ROOT = Path(__file__).parents[3]


def test_the_page_in_the_docs_is_the_present_one() -> None:
    """If not, run: python -m kproxy.rebootstrap.docs_table."""
    assert (ROOT / PAGE).read_text(encoding="utf-8") == page()


def test_every_rule_has_its_line() -> None:
    """The line has the rule's reason, under a head of seven columns."""
    lines = [line.removesuffix(" |").split(" | ") for line in page().splitlines() if line.count(" | ") == 6]
    assert [cells[-1] for cells in lines[2:]] == [rule.why for rule in RULES]


def test_it_is_written_where_the_docs_are(tmp_path: Path) -> None:
    """It is in UTF-8, whatever the locale."""
    (tmp_path / "docs").mkdir()
    write(tmp_path)
    assert "Metadata ≥ 13" in (tmp_path / PAGE).read_text(encoding="utf-8")
