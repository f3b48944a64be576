# This module is pure (no I/O, no clock).
"""A lane for each group, with a bar for each time in which something was going on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from markupsafe import Markup

from kproxy.pipeline.report.charts import svg
from kproxy.pipeline.report.charts.figure import Entry, Figure, Table
from kproxy.pipeline.report.charts.over_time import Caption
from kproxy.pipeline.report.charts.scales import SIZE, Times

LANE: Final = 44
"""Pixels, of which the label takes the upper half."""
_TOP: Final = 24
_THICK: Final = 14
_LEAST: Final = 5.0
"""The width of a bar, so that a second of a day can be seen."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A time in a lane."""

    lane: int
    began: datetime
    ended: datetime
    class_: str
    hint: str


def lanes(
    labels: Sequence[str], bars: Sequence[Bar], classes: Mapping[str, str], times: Times, caption: Caption, table: Table
) -> Figure:
    """Return the lanes in the order of their labels; `classes` are those of the legend, by name."""
    height = LANE * len(labels)
    rails = "".join(f"M0 {LANE * lane + _TOP + _THICK / 2:g}H{SIZE}" for lane in range(len(labels)))
    shapes = (svg.element("path", d=rails, class_="grid"), *(_bar(bar, times) for bar in bars))
    return Figure(
        key=caption.key,
        title=caption.title,
        note=caption.note,
        svg=svg.chart(caption.key, caption.title, "; ".join(labels) + ".", *shapes, height=height),
        height=height,
        y_title="",
        y_ticks=(),
        x_title="time (UTC)",
        x_ticks=times.ticks,
        table=table,
        legend=tuple(Entry(class_, name) for name, class_ in classes.items()),
        lanes=tuple(labels),
    )


def _bar(bar: Bar, times: Times) -> Markup:
    left, right = SIZE * times.place(bar.began), SIZE * times.place(bar.ended)
    width = max(right - left, _LEAST)
    x = min(left, SIZE - width)
    return svg.rectangle(x, LANE * bar.lane + _TOP, width, _THICK, bar.class_, svg.element("title", bar.hint))
