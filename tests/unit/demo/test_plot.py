"""kproxy.demo.plot: the picture is written for every kind of run."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.image import imread

from kproxy.demo.board import Board
from kproxy.demo.plot import plot
from tests.unit.demo.boards import VERDICT, ended, hosted, started


def unlucky() -> Board:
    """Return a run in which no record arrived."""
    board = started()
    board.verdict = VERDICT | {"received": 0, "lost": 200, "p50_ms": None, "p99_ms": None}
    return board


RUNS = {"good": (ended(), True), "nothing": (unlucky(), False), "hosted": (hosted(), True)}


@pytest.mark.parametrize(("board", "passed"), RUNS.values(), ids=RUNS)
def test_a_picture(board: Board, passed: bool, tmp_path: Path) -> None:
    """The picture is a readable PNG, and not blank."""
    plot(board, passed, tmp_path / "run.png")
    picture = imread(tmp_path / "run.png")
    assert picture.shape[:2] == (1196, 1300)
    assert picture.std() > 0.05
