"""The diagram and the table of answers in docs/groups.md."""

from __future__ import annotations

from pathlib import Path

from kproxy.coordinator.docs_diagram import PAGE, diagram, write, written
from kproxy.coordinator.states import MOVES

ROOT = Path(__file__).parents[3]


def test_the_page_is_up_to_date() -> None:
    """If not, run: python -m kproxy.coordinator.docs_diagram."""
    page = (ROOT / PAGE).read_text()
    assert written(page) == page


def test_every_move_is_drawn() -> None:
    """One line for each, with all causes."""
    lines = diagram().splitlines()
    for before, moves in MOVES.items():
        for after, causes in moves.items():
            [line] = [line for line in lines if line.startswith(f"    {before} --> {after}: ")]
            assert set(line.partition(": ")[2].split(", ")) == set(causes)


def test_only_the_part_between_the_marks_is_written(tmp_path: Path) -> None:
    """What people have written around it stays."""
    page = tmp_path / PAGE
    page.parent.mkdir()
    page.write_text(f"before\n{(ROOT / PAGE).read_text()}after\n")
    write(tmp_path)
    assert page.read_text() == f"before\n{(ROOT / PAGE).read_text()}after\n"
