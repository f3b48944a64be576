"""kproxy.demo.summary: the commands to try while the demo stays up."""

from __future__ import annotations

import shlex

import pytest

from kproxy.demo.board import Board
from kproxy.demo.summary import tries
from tests.unit.demo.boards import OWN, ended, hosted


@pytest.mark.parametrize("board", [ended(), hosted()], ids=["ended", "hosted"])
@pytest.mark.parametrize("console", [(), ("java", "-cp", "/a b/*")])
def test_every_command_goes_to_kproxy(console: tuple[str, ...], board: Board) -> None:
    """Commands use kproxy's ports, never a broker's own; each is a valid line of shell."""
    commands = dict(tries(board, "demo", "demo-group", console))
    assert any("/readyz" in command for command in commands.values())
    assert any("groups lag demo-group" in command for command in commands.values()) is (board.group is not None)
    assert any(command.startswith("java -cp '/a b/*'") for command in commands.values()) is bool(console)
    for command in commands.values():
        assert shlex.split(command)
        assert "127.0.0.1:7000" in command or "127.0.0.1:7009" in command
        assert not any(address in command for address in OWN.values())
