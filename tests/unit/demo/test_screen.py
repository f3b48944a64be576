"""kproxy.demo.screen: the live screen fits a small terminal; elsewhere there are lines without control codes."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from kproxy.demo import summary
from kproxy.demo.board import Board
from kproxy.demo.checks import Check, check
from kproxy.demo.screen import Lively, Plain, draw, screen
from tests.unit.demo.boards import TOLD, ended, hosted, stable, started


def paper(width: int = 80, terminal: bool = False) -> Console:
    """Return a console that writes into memory."""
    return Console(file=io.StringIO(), width=width, height=24, force_terminal=terminal, markup=False, highlight=False)


def written(console: Console) -> str:
    """Return the console's output."""
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("board", [started(), ended(), hosted()], ids=["started", "ended", "hosted"])
@pytest.mark.parametrize("width", [40, 80, 200])
def test_it_fits(board: Board, width: int) -> None:
    """It has 24 lines, including the cursor's, at any width of the terminal."""
    console = paper(width)
    console.print(draw(board, width))
    lines = written(console).splitlines()
    assert len(lines) <= 22 if width >= 80 else lines
    assert max(map(len, lines)) <= width


def test_it_shows_the_advertised_addresses() -> None:
    """The screen has the addresses, the group and the rates."""
    console = paper()
    console.print(draw(ended(), 80))
    for text in (*TOLD.values(), "demo-member-1 0, 1; demo-member-2 2", "90 rec/s", "100 rec/s", "60 % of a core"):
        assert text in written(console)


def test_a_hosted_group() -> None:
    """Its state and generation stand before the partitions; elsewhere a line tells of each change."""
    board, console = hosted(), paper()
    console.print(draw(board, 80))
    assert "Stable, generation 3: member-1 0, 1; member-2 2" in written(console)

    console = paper(160)
    with screen(console) as view:
        view.show(board)
        board.see_group({"state": "PreparingRebalance", "generation": 3}, [])
        view.show(board)
        board.see_group(*stable(4, one=[1]))
        view.show(board)
    said = [line.split("s  ", 1)[1] for line in written(console).splitlines() if "the group" in line]
    assert said == [
        "the group is Stable, generation 3: demo-one 0; demo-two 1",
        "the group is PreparingRebalance, generation 3",
        "the group is Stable, generation 4: demo-one 1",
    ]


def test_which_screen() -> None:
    """The screen is live on a terminal, plain elsewhere."""
    assert isinstance(screen(paper(terminal=True)), Lively)
    assert isinstance(screen(paper()), Plain)


def test_the_live_screen_leaves_nothing() -> None:
    """The summary follows it; the cursor is shown again."""
    console = paper(terminal=True)
    with screen(console) as view:
        view.show(ended())
    assert "127.0.0.1:7001" in written(console)
    assert written(console).rindex("\x1b[?25h") > written(console).rindex("\x1b[?25l")


def test_plain_lines() -> None:
    """It prints the addresses once, then a line every two seconds, without control codes."""
    console = paper(160)
    with screen(console) as view:
        view.show(started())
        view.show(board := ended())
        board.at = 2.5
        view.show(board)
        board.at = 4.0
        view.show(board)
    lines = written(console).splitlines()
    assert [line.split()[0] for line in lines] == ["node", "node", "2.0", "2.0"]
    assert "\x1b" not in written(console)


def test_the_summary() -> None:
    """The summary has a table, a mark for each check, and the files."""
    console, board = paper(140), ended()
    summary.show(console, board, [*check(board, {7000}, 1), Check(False, "something else")], [])
    said = written(console)
    assert "200 of 1024 bytes in 2 s, through a group of 2" in said
    assert "p50 3.0 ms, p99 12.0 ms, at most 40.0 ms" in said
    assert (said.count("✓"), said.count("✗ something else")) == (5, 1)
