"""Plots a run over time: throughput, latency, and kproxy's CPU and memory.

`Play` calls `plot` once, after the load.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from kproxy.demo import figures
from kproxy.demo.board import Board, Generation, Moment
from kproxy.demo.pace import Pace
from kproxy.demo.record import SIZE
from kproxy.demo.style import BLUE, FAINT, GREEN, INK, ORANGE, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot(board: Board, passed: bool, file: Path) -> None:
    """Write the picture as PNG."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10, 9.2), dpi=130, facecolor="white")
        throughput, latency, cost = figure.subplots(3, 1, sharex=True, height_ratios=(3, 3, 2))
        _throughput(throughput, board.pace, board.moments, board.generations)
        _latency(latency, board.moments)
        _cost(cost, board.moments)
        cost.set_xlabel("seconds since the first record")
        cost.set_xlim(0, max((moment.at for moment in board.moments), default=1))
        _title(figure, board, passed)
        figure.subplots_adjust(left=0.09, right=0.91, top=0.86, bottom=0.065, hspace=0.32)
        figure.savefig(file)


def _title(figure: Figure, board: Board, passed: bool) -> None:
    verdict = board.verdict or {}
    figure.text(0.09, 0.955, f"kproxy in front of {board.backend}, {len(board.own)} brokers", size=15, weight="bold")
    p50, p99 = figures.latency(verdict["p50_ms"]), figures.latency(verdict["p99_ms"])
    subtitle = (
        f"{verdict['received']:,} records of {SIZE} bytes, produced to consumed in {p50} (p50), {p99} (p99); "
        f"{verdict['lost']} lost, {verdict['duplicates']} twice" + ("" if passed else "; NOT ALL CHECKS PASSED")
    )
    figure.text(0.09, 0.925, subtitle, size=10.5, color=INK if passed else "#b91c1c")


def _series(moments: Sequence[Moment], name: str) -> tuple[list[float], list[float]]:
    """Return the middle of each interval and its value; NaN, for a gap, where a moment has none."""
    middles, values, begin = [], [], 0.0
    for moment in moments:
        value = getattr(moment, name)
        middles.append((begin + moment.at) / 2)
        values.append(float("nan") if value is None else value)
        begin = moment.at
    return middles, values


def _throughput(axes: Axes, pace: Pace, moments: Sequence[Moment], generations: Sequence[Generation]) -> None:
    axes.set_title("Throughput")
    axes.fill_between(*_series(moments, "produced_per_s"), color=BLUE, alpha=0.12, linewidth=0)
    axes.plot(*_series(moments, "produced_per_s"), color=BLUE, linewidth=2, label="produced")
    axes.plot(*_series(moments, "consumed_per_s"), color=GREEN, linewidth=2, linestyle=(0, (4, 2)), label="consumed")
    edges = [step * pace.seconds / len(pace.rates) for step in range(len(pace.rates) + 1)]
    axes.stairs(pace.rates, edges, baseline=None, color=FAINT, linewidth=1, label="asked for")
    axes.set_ylabel("records/s")
    axes.set_ylim(bottom=0)
    _generations(axes, generations)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    _legend(axes)
    right = axes.secondary_yaxis("right", functions=(_mib, _records))
    right.set_ylabel("MiB/s, each way")


def _generations(axes: Axes, generations: Sequence[Generation]) -> None:
    """Mark when each generation of the hosted group was stable."""
    for generation in generations:
        axes.axvline(generation.at, color=INK, linewidth=1, linestyle=":")
        label = f" generation {generation.number}: {len(generation.held)} members"
        axes.text(generation.at, 0.02, label, transform=axes.get_xaxis_transform(), size=8, color=INK)


def _mib(records: Any) -> Any:
    return records * SIZE / 2**20


def _records(mib: Any) -> Any:
    return mib * 2**20 / SIZE


def _latency(axes: Axes, moments: Sequence[Moment]) -> None:
    axes.set_title("Latency")
    for name, color, style, label in (
        ("p50_ms", BLUE, "-", "record, produced to consumed: p50"),
        ("p99_ms", BLUE, "--", "p99"),
        ("in_kproxy_p50_ms", ORANGE, "-", "request, within kproxy: p50"),
        ("in_kproxy_p99_ms", ORANGE, "--", "p99"),
    ):
        axes.plot(*_series(moments, name), color=color, linestyle=style, linewidth=2, label=label)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: figures.tick(value)))
    _legend(axes)


def _cost(axes: Axes, moments: Sequence[Moment]) -> None:
    axes.set_title("What it costs kproxy")
    axes.fill_between(*_series(moments, "cpu_percent"), color=ORANGE, alpha=0.12, linewidth=0)
    axes.plot(*_series(moments, "cpu_percent"), color=ORANGE, linewidth=2, label="CPU")
    axes.set_ylabel("CPU, % of a core")
    axes.set_ylim(bottom=0)
    right = axes.twinx()
    right.plot(*_series(moments, "rss_mb"), color=FAINT, linewidth=2)
    right.set_ylabel("memory, MB")
    right.set_ylim(0, max((moment.rss_mb for moment in moments), default=1) * 1.6)
    right.grid(visible=False)
    axes.plot([], [], color=FAINT, linewidth=2, label="memory")
    _legend(axes)


def _legend(axes: Axes) -> None:
    """Put the legend above the curves, so that it hides none."""
    axes.legend(loc="lower right", bbox_to_anchor=(1.01, 0.98), ncols=4, columnspacing=1.6)
