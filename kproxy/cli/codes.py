"""Exit codes, and how a command says what went wrong: one line on standard error."""

from __future__ import annotations

from typing import Final

import click

from kproxy.errors import KproxyError

REFUSED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130


class CommandError(KproxyError):
    """A command that ends with an exit code and a line of its own."""

    def __init__(self, line: str, code: int) -> None:
        super().__init__(line)
        self.code = code


def fail(line: str, code: int = USAGE) -> int:
    click.echo(line, err=True)
    return code


def help_if_bare(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(USAGE)
