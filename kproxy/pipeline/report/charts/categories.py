# This module is pure (no I/O, no clock).
"""A bar for each of a few categories, one below the other: their names have room on any screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from kproxy.pipeline.report.charts import scales, svg
from kproxy.pipeline.report.charts.figure import Figure, Table
from kproxy.pipeline.report.charts.over_time import Caption
from kproxy.pipeline.report.charts.scales import SIZE, Tick

_ROW: Final = 26
"""Pixels."""
_THICK: Final = 0.6
_LEAST: Final = 4.0


def bars(amounts: Mapping[str, int], classes: Mapping[str, str], head: str, caption: Caption) -> Figure:
    """Return a bar for each name, in their order; `classes` colours those that it names."""
    axis = scales.values(max(amounts.values(), default=0), caption.unit, whole=caption.whole)
    row = SIZE / max(len(amounts), 1)
    shapes = [svg.element("path", d="".join(f"M{SIZE * tick.at:.1f} 0V{SIZE}" for tick in axis.ticks), class_="grid")]
    for number, (name, amount) in enumerate(amounts.items()):
        width = max(SIZE * axis.place(amount), _LEAST) if amount else 0.0
        hint = svg.element("title", f"{name}: {caption.unit.text(amount)}")
        y, height = row * (number + (1 - _THICK) / 2), row * _THICK
        shapes.append(svg.rectangle(0, y, width, height, classes.get(name, "s0"), hint))
    said = "; ".join(f"{name}: {amount:,}" for name, amount in amounts.items())
    places = enumerate(amounts.items())
    return Figure(
        key=caption.key,
        title=caption.title,
        note=caption.note,
        svg=svg.chart(caption.key, caption.title, f"{said}.", *shapes),
        height=_ROW * len(amounts),
        y_title="",
        # From below, as the other charts count.
        y_ticks=tuple(Tick(1 - (number + 0.5) / len(amounts), name) for number, (name, _) in places),
        x_title=axis.unit,
        x_ticks=tuple(replace(tick, minor=bool(number % 2)) for number, tick in enumerate(axis.ticks)),
        table=Table(
            f"{caption.title}: data",
            (head, axis.unit),
            tuple((name, f"{amount:,}") for name, amount in amounts.items()),
            frozenset({1}),
        ),
    )
