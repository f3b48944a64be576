"""Tables for people: as wide as the terminal, and wide enough in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final

_PIPED_WIDTH: Final = 240


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(*head, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH, markup=False, emoji=False).print(table)
