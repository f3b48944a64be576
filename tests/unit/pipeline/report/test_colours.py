"""The colours of the page: they can be seen, and told apart by people who see fewer of them."""

from __future__ import annotations

import itertools
import math
import operator
import re
from importlib.resources import files

import pytest

Colour = tuple[float, float, float]
CSS = files("kproxy.pipeline.report").joinpath("templates/page.css").read_text()
_SERIES = [f"s{number}" for number in range(6)]
_TEXT = ["text", "soft", "link", "critical", "warning", "info", "none", "unknown"]
# Machado, Oliveira and Fernandes 2009, "A Physiologically-based Model for Simulation of Color Vision Deficiency", of
# full severity, in linear RGB.
_EYES = {
    "all three": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}


def theme(name: str) -> dict[str, Colour]:
    """The colours of a theme, in linear RGB."""
    light, dark = CSS.split("@media (prefers-color-scheme: dark)")
    found = re.findall(r"--(\w+): #(\w{6})", light if name == "light" else dark)
    return {key: tuple(_linear(int(code[at : at + 2], 16) / 255) for at in (0, 2, 4)) for key, code in found}  # type: ignore[misc]


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def contrast(one: Colour, other: Colour) -> float:
    """As WCAG 2 has it."""
    low, high = sorted(0.2126 * each[0] + 0.7152 * each[1] + 0.0722 * each[2] for each in (one, other))
    return (high + 0.05) / (low + 0.05)


def seen(colour: Colour, eyes: str) -> Colour:
    """A colour in OKLab, in which distances are those that people see."""
    r, g, b = (min(max(sum(map(operator.mul, row, colour)), 0), 1) for row in _EYES[eyes])
    long = math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
    medium = math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
    short = math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
    return (
        0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short,
    )


@pytest.mark.parametrize("name", ["light", "dark"])
def test_contrast(name: str) -> None:
    """Text has 4.5, on the page and on a card; shapes have 3 (WCAG 2.2, 1.4.3 and 1.4.11)."""
    colours = theme(name)
    backgrounds = (colours["page"], colours["surface"])
    assert not [key for key in _TEXT if min(contrast(colours[key], each) for each in backgrounds) < 4.5]
    assert not [key for key in (*_SERIES, "rest") if contrast(colours[key], colours["surface"]) < 3]


@pytest.mark.parametrize("eyes", _EYES)
@pytest.mark.parametrize("name", ["light", "dark"])
def test_series_are_told_apart(name: str, eyes: str) -> None:
    """Two colours that hardly differ have a distance of 0.02."""
    colours = {key: seen(theme(name)[key], eyes) for key in _SERIES}
    distances = {pair: math.dist(colours[pair[0]], colours[pair[1]]) for pair in itertools.combinations(_SERIES, 2)}
    assert min(distances.values()) >= 0.12, min(distances.items(), key=lambda each: each[1])
