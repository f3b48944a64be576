"""Shows the running demo: a live screen on a terminal, plain lines elsewhere.

`Play` calls `show` about ten times a second during the load.
"""

from __future__ import annotations

import sys
from typing import Final, Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from kproxy.demo import figures
from kproxy.demo.board import Board, Moment

PIPED_WIDTH: Final = 140
_PLAIN_EVERY: Final = 2.0
_REFRESH: Final = 4
_BARS: Final = 30
_WIDEST: Final = 96


def console() -> Console:
    """Return a console on standard output: no control codes without a terminal, no errors for characters it lacks."""
    terminal = sys.stdout.isatty()
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    return Console(
        force_terminal=None if terminal else False,
        width=None if terminal else PIPED_WIDTH,
        highlight=False,
        emoji=False,
        markup=False,
        soft_wrap=not terminal,
    )


class Screen(Protocol):
    """Shows the demo; a context manager around the load."""

    def __enter__(self) -> Screen: ...

    def __exit__(self, *_: object) -> None: ...

    def show(self, board: Board) -> None:
        """Show the changed board."""


def screen(console: Console) -> Screen:
    """Return the screen that suits the output."""
    return Lively(console) if console.is_terminal and not console.is_dumb_terminal else Plain(console)


class Plain:
    """Prints a line every two seconds."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._addresses_shown = False
        self._group: str | None = None
        self._next = 0.0

    def __enter__(self) -> Plain:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def show(self, board: Board) -> None:
        """Print the addresses once, then the latest moment when it is due."""
        if board.told and not self._addresses_shown:
            self._addresses_shown = True
            for node in board.nodes:
                self._console.print(
                    f"node {node.node_id}: clients are told {node.told}, the broker's own is {node.own}"
                )
        if board.group != self._group:
            self._group = board.group
            self._console.print(f"{board.at:5.1f} s  the group is {_generation(board)}")
        if board.moments and board.at >= self._next:
            self._next = board.at + _PLAIN_EVERY - 0.25
            self._console.print(figures.plain(board.moments[-1]))


def _generation(board: Board) -> str:
    newest = board.generations[-1:] if str(board.group).startswith("Stable") else []
    held = (f"{name} {', '.join(map(str, some))}" for one in newest for name, some in sorted(one.held.items()))
    return ": ".join(part for part in (board.group, "; ".join(held)) if part)


class Lively:
    """A live screen, which is redrawn in place."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, refresh_per_second=_REFRESH, transient=True)

    def __enter__(self) -> Lively:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, board: Board) -> None:
        """Draw the board at the next refresh."""
        self._live.update(draw(board, self._live.console.width))


def draw(board: Board, width: int) -> RenderableType:
    """Return the whole screen: 21 lines of at least 80 characters."""
    width = min(width - 2, _WIDEST)
    return Padding(Group(_head(board, width), Text(), _addresses(board), Text(), _rates(board, width)), (1, 0, 0, 2))


def _head(board: Board, width: int) -> RenderableType:
    head = Table.grid(expand=False)
    head.width = width
    head.add_column()
    head.add_column(justify="right")
    what = Text.assemble(("kproxy", "bold cyan"), f" in front of {board.backend}, {len(board.own)} brokers")
    seconds, at = board.pace.seconds, min(board.at, board.pace.seconds)
    head.add_row(what, f"{at:.0f} of {seconds:.0f} s" if board.moments else "starting")
    bar = ProgressBar(seconds, at, width=width, complete_style="cyan", finished_style="cyan")
    return Group(head, Padding(bar), Text(_group(board), "dim"))


def _group(board: Board) -> str:
    if not board.members:
        return "the group waits for its first assignment"
    held = "; ".join(f"{name} {', '.join(map(str, some))}" for name, some in sorted(board.members.items()))
    return f"partitions: {held}" if board.group is None else f"{board.group}: {held.replace('demo-', '')}"


def _addresses(board: Board) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    for title in ("node", "clients are told", "the broker's own"):
        table.add_column(title)
    table.add_column("connections", justify="right")
    named = sum(node.connections for node in board.nodes)
    table.add_row(
        "bootstrap", Text(board.bootstrap, "cyan"), Text("any of them", "dim"), str(board.connections - named)
    )
    for node in board.nodes:
        address = board.told.get(node.node_id, node.told)
        table.add_row(str(node.node_id), Text(address, "cyan"), Text(node.own, "dim"), str(node.connections))
    return table


def _rates(board: Board, width: int) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    table.add_column("", min_width=23)
    table.add_column("now" if board.moments else "", justify="right", min_width=14)
    table.add_column(
        "" if not board.moments else "the last seconds", width=max(min(_BARS, width - 50), 1), no_wrap=True
    )
    for title, now, bars in _rows(board.moments, max(min(_BARS, width - 50), 1)):
        table.add_row(title, Text(now, "bold"), Text(bars, "green"))
    return table


def _rows(moments: list[Moment], width: int) -> list[tuple[str, str, str]]:
    if not moments:
        return [("", "", "")] * 9
    last = moments[-1]

    def row(title: str, now: str, name: str) -> tuple[str, str, str]:
        return title, now, figures.bars([getattr(moment, name) for moment in moments], width)

    return [
        row("produced", f"{last.produced_per_s:,.0f} rec/s", "produced_per_s"),
        row("consumed", f"{last.consumed_per_s:,.0f} rec/s", "consumed_per_s"),
        row("produce to consume  p50", figures.latency(last.p50_ms), "p50_ms"),
        row("                    p99", figures.latency(last.p99_ms), "p99_ms"),
        row("within kproxy       p50", figures.latency(last.in_kproxy_p50_ms), "in_kproxy_p50_ms"),
        row("                    p99", figures.latency(last.in_kproxy_p99_ms), "in_kproxy_p99_ms"),
        row("requests", f"{last.requests_per_s:,.0f} /s", "requests_per_s"),
        row("kproxy's CPU", f"{last.cpu_percent:.0f} % of a core", "cpu_percent"),
        row("kproxy's memory", f"{last.rss_mb:.0f} MB", "rss_mb"),
    ]
