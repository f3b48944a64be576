# This module is pure (no I/O, no clock).
"""Elements of SVG, with whatever is said in them escaped."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup, escape

from kproxy.pipeline.report.charts.scales import SIZE

_NAMES: Final = {"class_": "class", "view_box": "viewBox", "preserve_aspect_ratio": "preserveAspectRatio"}


def element(name: str, *inside: str, **attributes: str | float) -> Markup:
    """Return an element. `stroke_width` is the attribute stroke-width; numbers have one digit after the point."""
    written = "".join(f' {_NAMES.get(key, key.replace("_", "-"))}="{_value(each)}"' for key, each in attributes.items())
    if not inside:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{''.join(escape(each) for each in inside)}</{name}>")


def _value(value: str | float) -> Markup:
    return escape(f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else value)


def chart(key: str, title: str, description: str, *shapes: Markup, height: float = SIZE) -> Markup:
    """Return an image that takes the whole width of its place: nothing in it keeps its proportions."""
    return element(
        "svg",
        element("title", title, id=f"{key}-title"),
        element("desc", description, id=f"{key}-description"),
        *shapes,
        role="img",
        view_box=f"0 0 {SIZE} {height:g}",
        preserve_aspect_ratio="none",
        aria_labelledby=f"{key}-title {key}-description",
    )


def rectangle(x: float, y: float, width: float, height: float, class_: str, *inside: Markup) -> Markup:
    """Return a rectangle."""
    return element("rect", *inside, x=x, y=y, width=width, height=height, class_=class_)


def grid(places: tuple[float, ...]) -> Markup:
    """Return lines across, at these heights."""
    return element("path", d="".join(f"M0 {y:.1f}H{SIZE}" for y in places), class_="grid")
