"""Plots a soak over time: memory, descriptors and connections, the victim's latency, kproxy's CPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

from kproxy.demo.style import BLUE, FAINT, GREEN, INK, ORANGE, STYLE
from tests.soak.run import Report
from tests.soak.verdict import MIB, Sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_RED = "#b91c1c"


def plot(report: Report, file: Path) -> None:
    """Write the picture as PNG."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10, 10.5), dpi=130, facecolor="white")
        memory, counts, latency, cpu = figure.subplots(4, 1, sharex=True)
        _lines(memory, report, "Resident memory, MiB", [(lambda one: one.rss / MIB, BLUE, "")])
        _lines(
            counts,
            report,
            "Descriptors, connections, threads",
            [
                (lambda one: one.files, BLUE, "descriptors"),
                (lambda one: one.connections, GREEN, "relayed connections"),
                (lambda one: one.threads, ORANGE, "threads"),
            ],
        )
        _lines(
            latency,
            report,
            "A small request of the victim's, ms",
            [(lambda one: _ms(one.p50), BLUE, "p50"), (lambda one: _ms(one.p99), ORANGE, "p99")],
            scale="log",
        )
        _lines(cpu, report, "kproxy's CPU, % of a core", [(lambda one: 100 * one.cpu, ORANGE, "")])
        cpu.set_xlabel("seconds since the start; lines: failovers (grey), reloads (dotted)")
        _title(figure, report)
        figure.subplots_adjust(left=0.08, right=0.97, top=0.9, bottom=0.06, hspace=0.3)
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file)


def _ms(seconds: float | None) -> float:
    return float("nan") if seconds is None else 1000 * seconds


def _lines(
    axes: Axes,
    report: Report,
    title: str,
    lines: list[tuple[Callable[[Sample], float], str, str]],
    scale: str = "linear",
) -> None:
    axes.set_title(title)
    at = [one.at for one in report.samples]
    for value, color, label in lines:
        axes.plot(at, [value(one) for one in report.samples], color=color, linewidth=1.8, label=label or None)
    axes.set_yscale(scale)
    axes.margins(y=0.25)
    if scale == "linear":
        axes.set_ylim(bottom=0)
    for moment, what in report.moments:
        axes.axvline(moment, color=FAINT, linewidth=0.8, linestyle=":" if what == "reload" else "-")
    if len(lines) > 1:
        axes.legend(loc="upper right", ncols=3)


def _title(figure: Figure, report: Report) -> None:
    seconds = report.samples[-1].at if report.samples else 0.0
    failed = [verdict.name for verdict in report.verdicts if not verdict.met]
    said = "NOT MET: " + "; ".join(failed) if failed else "every check is met"
    figure.text(0.08, 0.962, f"kproxy soaked for {seconds / 60:.0f} minutes", size=15, weight="bold")
    figure.text(0.08, 0.938, said, size=10.5, color=_RED if failed else INK)
