# This module is pure (no I/O, no clock).
"""What others named, made fit to be read: client ids and groups are anything that a client sent."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from kproxy.pipeline.report.charts.numbers import number

NAME: Final = 64
"""Characters of a name that are shown."""
SENTENCE: Final = 600
_NOT_EVIDENCE: Final = frozenset({"cluster", "subject", "severity"})
_NO_PICTURE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories: controls, marks that turn the direction of text, what has no character."""


def shown(text: str | None, most: int = NAME) -> str:
    """Return text in which each character can be seen, cut to a length."""
    if not text:
        return "(none)"
    cut = text if len(text) <= most else text[: most - 1]
    seen = "".join(_escaped(each) if unicodedata.category(each) in _NO_PICTURE else each for each in cut)
    return seen if cut is text else f"{seen}…"


def isolated(text: str) -> str:
    """Return text between marks that keep its direction from what is around it: for a name in a sentence."""
    return f"\u2068{text}\u2069"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def moment(time: datetime | None) -> str:
    """Return a time to the minute."""
    return "–" if time is None else f"{time:%Y-%m-%d %H:%M}"


def evidence(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names and values of a finding's evidence, but for what its heading says."""
    for name, value in json.loads(text).items():
        if name not in _NOT_EVIDENCE:
            yield shown(name.replace("_", " ")), _value(value)


def _value(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "–", True: "yes", False: "no"}[value]
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, list):
        return ", ".join(_value(each) for each in value) or "–"
    return _time(value) or shown(value, SENTENCE) if isinstance(value, str) else shown(json.dumps(value), SENTENCE)


def _time(text: str) -> str | None:
    """A time of the evidence, which is ISO with its zone."""
    if len(text) < len("2026-01-31T12:00:00+00:00") or text[10] != "T":
        return None
    try:
        return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M:%S}"
    except ValueError:
        return None
