"""The picture is written, whatever the run was like."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.image import imread

from kproxy.demo.board import Board
from kproxy.demo.plot import plot
from tests.unit.demo.boards import VERDICT, ended, started


def unlucky() -> Board:
    """A run in which no record arrived."""
    board = started()
    board.verdict = VERDICT | {"received": 0, "lost": 200, "p50_ms": None, "p99_ms": None}
    return board


@pytest.mark.parametrize(("board", "passed"), [(ended(), True), (unlucky(), False)], ids=["good", "nothing"])
def test_a_picture(board: Board, passed: bool, tmp_path: Path) -> None:
    """A PNG that can be read, with something drawn on it."""
    plot(board, passed, tmp_path / "run.png")
    picture = imread(tmp_path / "run.png")
    assert picture.shape[:2] == (1196, 1300)
    assert picture.std() > 0.05
