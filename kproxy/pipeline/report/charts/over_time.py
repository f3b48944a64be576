# This module is pure (no I/O, no clock).
"""Values by time: stacked bars, and lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from markupsafe import Markup

from kproxy.pipeline.report.charts import scales, svg
from kproxy.pipeline.report.charts.figure import Figure, Table, colour, legend
from kproxy.pipeline.report.charts.numbers import Unit
from kproxy.pipeline.report.charts.scales import SIZE, Times
from kproxy.pipeline.report.sections.shapes import OverTime, Series

_HEIGHT: Final = 180
_GAP: Final = 0.12
"""Of a bucket: the space between two bars."""
_LEAST: Final = 8.0
"""The height of a bar that is not zero: something is there."""


@dataclass(frozen=True, slots=True)
class Caption:
    """The words of a chart."""

    key: str
    title: str
    note: str
    unit: Unit
    whole: bool = False
    """There are no halves of them."""


def bars(values: OverTime, times: Times, caption: Caption) -> Figure:
    """Return stacked bars, the first series below."""
    totals = [sum(value or 0 for value in each) for each in zip(*(one.values for one in values.series), strict=True)]
    return _figure(values, times, caption, max(totals, default=0), _stacks)


def lines(values: OverTime, times: Times, caption: Caption) -> Figure:
    """Return a line for each series, with gaps where there is no value."""
    known = [value for one in values.series for value in one.values if value is not None]
    return _figure(values, times, caption, max(known, default=0), _lines)


Draw = Callable[[OverTime, "_Axes"], Iterator[Markup]]


@dataclass(frozen=True, slots=True)
class _Axes:
    times: Times
    values: scales.Values
    step: timedelta
    unit: Unit

    def span(self, start: datetime) -> tuple[float, float]:
        """Where a bucket begins and ends."""
        return SIZE * self.times.place(start), SIZE * self.times.place(start + self.step)

    def y(self, value: float) -> float:
        return SIZE * (1 - self.values.place(value))


def _figure(values: OverTime, times: Times, caption: Caption, maximum: float, draw: Draw) -> Figure:
    axis = scales.values(maximum, caption.unit, whole=caption.whole)
    axes = _Axes(times, axis, timedelta(seconds=values.step), caption.unit)
    lines_across = svg.grid(tuple(SIZE * (1 - tick.at) for tick in axis.ticks))
    described = f"{_described(values, caption.unit)} The data is in the table below."
    shapes = (lines_across, *draw(values, axes), *_hints(values, axes))
    return Figure(
        key=caption.key,
        title=caption.title,
        note=caption.note,
        svg=svg.chart(caption.key, caption.title, described, *shapes),
        height=_HEIGHT,
        y_title=axis.unit,
        y_ticks=axis.ticks,
        x_title="time (UTC)",
        x_ticks=times.ticks,
        table=_table(values, caption),
        legend=legend([(one.name, one.rest) for one in values.series]),
    )


def _described(values: OverTime, unit: Unit) -> str:
    def most(one: Series) -> str:
        known = [value for value in one.values if value is not None]
        return f"{one.name}: at most {unit.text(max(known))}" if known else f"{one.name}: no data"

    return f"{'; '.join(most(one) for one in values.series)}."


def _stacks(values: OverTime, axes: _Axes) -> Iterator[Markup]:
    for number, start in enumerate(values.starts):
        left, right = axes.span(start)
        gap = (right - left) * _GAP
        below = 0.0
        for place, one in enumerate(values.series):
            if value := one.values[number]:
                height = max(SIZE * axes.values.place(value), _LEAST)
                class_ = colour(place, one.rest)
                yield svg.rectangle(left + gap / 2, SIZE - below - height, right - left - gap, height, class_)
                below += height


def _lines(values: OverTime, axes: _Axes) -> Iterator[Markup]:
    middles = [sum(axes.span(start)) / 2 for start in values.starts]
    for place, one in enumerate(values.series):
        if drawn := _path(zip(middles, one.values, strict=True), axes):
            yield svg.element("path", d=drawn, class_=f"line {colour(place, one.rest)}")


def _path(points: Iterable[tuple[float, float | None]], axes: _Axes) -> str:
    """A line from point to point; one without neighbours is a line of no length, which its round ends make a dot."""
    drawn, pen_down = [], False
    for x, value in points:
        if value is not None:
            drawn.append(f"{'L' if pen_down else 'M'}{x:.1f} {axes.y(value):.1f}{'' if pen_down else 'h0'}")
        pen_down = value is not None
    return "".join(drawn)


def _hints(values: OverTime, axes: _Axes) -> Iterator[Markup]:
    """What a pointer at a bucket is told."""
    for start, row in zip(values.starts, _rows(values, axes.unit), strict=True):
        left, right = axes.span(start)
        said = [f"{one.name}: {text}" for one, text in zip(values.series, row[1:], strict=True)]
        yield svg.rectangle(left, 0, right - left, SIZE, "hint", svg.element("title", "\n".join([row[0], *said])))


def _rows(values: OverTime, unit: Unit) -> Iterator[tuple[str, ...]]:
    for number, start in enumerate(values.starts):
        cells = (one.values[number] for one in values.series)
        yield f"{start:%Y-%m-%d %H:%M}", *("–" if value is None else unit.text(value) for value in cells)


def _table(values: OverTime, caption: Caption) -> Table:
    head: Sequence[str] = [one.name for one in values.series]
    rows = tuple(_rows(values, caption.unit))
    return Table(f"{caption.title}: data", ("from (UTC)", *head), rows, frozenset(range(1, len(head) + 1)))
