"""The output of commands: exit codes, errors as one line on standard error, and tables.

`main` and most commands call it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final

import click

from kproxy.errors import KproxyError
from kproxy.observe.masking import printable

REFUSED: Final = 1
"""The command was understood and not carried out."""
USAGE: Final = 2
INTERRUPTED: Final = 130
_PIPED_WIDTH: Final = 240


class CliError(KproxyError):
    """Ends a command with this line on standard error and this exit code."""

    def __init__(self, line: str, code: int) -> None:
        super().__init__(line)
        self.code = code


def fail(line: str, code: int = USAGE) -> int:
    """Print the line on standard error; returns the exit code."""
    click.echo(line, err=True)
    return code


def help_if_bare(context: click.Context) -> None:
    """Print the help of a group that was called without a command, and fail."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(USAGE)


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table as wide as the terminal; in a pipe it is wide enough for its cells to stay on one line."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*head, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(printable, row))
    Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH, markup=False, emoji=False).print(table)
