"""Exit codes, and how a command says what went wrong: one line on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final

import click

from kproxy.errors import KproxyError

REFUSED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130


class CliError(KproxyError):
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


_PIPED_WIDTH: Final = 240


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(*head, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH, markup=False, emoji=False).print(table)
