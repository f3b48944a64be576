"""kproxy.pipeline.report.charts: shapes where their values are, and words that are escaped."""

from __future__ import annotations

import re
from datetime import timedelta
from xml.etree import ElementTree

from markupsafe import Markup

from kproxy.pipeline.report.charts import categories, lanes, over_time, svg
from kproxy.pipeline.report.charts.figure import Figure, Table
from kproxy.pipeline.report.charts.lanes import Bar
from kproxy.pipeline.report.charts.numbers import MILLISECONDS, counted
from kproxy.pipeline.report.charts.over_time import Caption
from kproxy.pipeline.report.charts.scales import Times
from kproxy.pipeline.report.sections.shapes import OverTime, Series
from tests.unit.pipeline.report.contents import HOSTILE, SINCE

TIMES = Times(SINCE, SINCE + timedelta(hours=4))
COUNT = Caption("key", "Title", "Note", counted("clients"), whole=True)
DATA = Table("data", ("a",), (("b",),), frozenset())


def hours(*series: tuple[float | None, ...], rest: bool = False) -> OverTime:
    """Series by hour; the last one may be the rest."""
    names = [f"series {number}" for number in range(len(series))]
    last = len(series) - 1
    made = (
        Series(name, values, rest and at == last) for at, (name, values) in enumerate(zip(names, series, strict=True))
    )
    return OverTime(3600, tuple(SINCE + timedelta(hours=hour) for hour in range(4)), tuple(made))


def rectangles(figure: Figure, class_: str) -> list[tuple[float, ...]]:
    """x, y, width and height of the rectangles of a class."""
    found = ElementTree.fromstring(figure.svg).iter("rect")
    return [
        tuple(float(each.attrib[name]) for name in ("x", "y", "width", "height"))
        for each in found
        if each.attrib["class"] == class_
    ]


def test_escaped() -> None:
    """Text and attributes; what is markup already is not escaped again."""
    made = svg.element("text", "<b>", svg.element("title", '"'), class_='"><script>', x=1.25)
    assert made == '<text class="&#34;&gt;&lt;script&gt;" x="1.2">&lt;b&gt;<title>&#34;</title></text>'
    assert isinstance(made, Markup)


def test_stacked_bars() -> None:
    """A bar stands on the one below it, in its own hour; the rest has a colour of its own."""
    figure = over_time.bars(hours((1, 0, 2, 2), (3, 0, 0, 2), rest=True), TIMES, COUNT)
    assert rectangles(figure, "s0") == [(15, 750, 220, 250), (515, 500, 220, 500), (765, 500, 220, 500)]
    assert rectangles(figure, "rest") == [(15, 0, 220, 750), (765, 0, 220, 500)]
    assert [tick.label for tick in figure.y_ticks] == ["0", "1", "2", "3", "4"]
    assert figure.table.rows[0] == ("2026-09-21 00:00", "1 clients", "3 clients")


def test_a_small_bar_can_be_seen() -> None:
    """One error among thousands."""
    figure = over_time.bars(hours((1, 9000, 0, 0)), TIMES, COUNT)
    assert rectangles(figure, "s0")[0][3] == 8


def test_lines_have_gaps() -> None:
    """A value without neighbours is a dot."""
    figure = over_time.lines(hours((10, 20, None, 5)), TIMES, Caption("key", "Title", "Note", MILLISECONDS))
    (line,) = [each for each in ElementTree.fromstring(figure.svg).iter("path") if "line" in each.attrib["class"]]
    assert line.attrib["d"] == "M125.0 500.0h0L375.0 0.0M875.0 750.0h0"
    assert figure.table.rows[2] == ("2026-09-21 02:00", "–")


def test_no_value_at_all() -> None:
    """An axis stands there all the same."""
    figure = over_time.lines(hours((None, None, None, None)), TIMES, COUNT)
    assert not re.findall('class="line', figure.svg)
    assert [tick.label for tick in figure.y_ticks] == ["0", "1"]


def test_the_name_of_a_chart() -> None:
    """It is an image with a title and a description."""
    figure = over_time.bars(hours((1, 0, 2, 2)), TIMES, COUNT)
    image = ElementTree.fromstring(figure.svg)
    named = {each.attrib["id"]: each.text for each in image if each.tag in {"title", "desc"}}
    assert image.attrib["role"] == "img"
    assert image.attrib["aria-labelledby"].split() == list(named)
    assert named["key-title"] == "Title"
    assert named["key-description"] == "series 0: at most 2 clients. The data is in the table below."


def test_categories() -> None:
    """Bars from the left, one below the other."""
    figure = categories.bars({"a": 4, "b": 0, "c": 1}, {"c": "bad"}, "what", COUNT)
    assert [each[2] for each in rectangles(figure, "s0")] == [1000, 0]
    (last,) = rectangles(figure, "bad")
    assert last[2] == 250
    assert [tick.label for tick in figure.y_ticks] == ["a", "b", "c"]
    assert figure.y_ticks[0].at > figure.y_ticks[2].at


def test_lanes() -> None:
    """A bar is as long as its time, and can be seen, also at the end of the window."""
    hour = timedelta(hours=1)
    bars = [
        Bar(0, SINCE + hour, SINCE + 2 * hour, "s0", "an hour"),
        Bar(1, SINCE + 4 * hour, SINCE + 4 * hour, "s0", "a moment"),
    ]
    figure = lanes.lanes(["one", "two"], bars, {"cause": "s0"}, TIMES, COUNT, DATA)
    assert rectangles(figure, "s0") == [(250, 24, 250, 14), (995, 68, 5, 14)]
    assert figure.height == 88


def test_hostile_names() -> None:
    """They are text in the SVG, which stays well-formed."""
    names = [name or "" for name in HOSTILE if "\x00" not in (name or "")]
    values = OverTime(3600, (SINCE,), tuple(Series(name, (1.0,)) for name in names))
    hint = next(ElementTree.fromstring(over_time.bars(values, TIMES, COUNT).svg).iter("rect"))
    assert hint.attrib["class"] == "s0"
    assert "<script" not in over_time.bars(values, TIMES, COUNT).svg
