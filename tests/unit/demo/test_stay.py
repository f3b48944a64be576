"""kproxy.demo.summary: the commands to try while the demo stays up."""

from __future__ import annotations

import shlex

import pytest

from kproxy.demo.summary import tries
from tests.unit.demo.boards import OWN, ended


@pytest.mark.parametrize("console", [(), ("java", "-cp", "/a b/*")])
def test_every_command_goes_to_kproxy(console: tuple[str, ...]) -> None:
    """Commands use kproxy's ports, never a broker's own; each is a valid line of shell."""
    commands = dict(tries(ended(), "demo", console))
    assert any("/readyz" in command for command in commands.values())
    assert any(command.startswith("java -cp '/a b/*'") for command in commands.values()) is bool(console)
    for command in commands.values():
        assert shlex.split(command)
        assert "127.0.0.1:7000" in command or "127.0.0.1:7009" in command
        assert not any(address in command for address in OWN.values())
