# This module is pure.
"""OTLP names in Prometheus' form: what `promtool check metrics` asks for, with values scaled to base units."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple


class Kind(StrEnum):
    """The type of a family, in the words of the exposition format."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    SUMMARY = "summary"


class Exported(NamedTuple):
    """A family's name, and by what its values are multiplied."""

    name: str
    factor: float


MAX_NAME: Final = 256
"""Characters of an OTLP name; Kafka's longest has about 90."""

_DECIMAL: Final = {"nano": 1e-9, "micro": 1e-6, "milli": 1e-3, "": 1.0, "kilo": 1e3, "mega": 1e6, "giga": 1e9}
_BINARY: Final = {"kibi": 2**10, "mebi": 2**20, "gibi": 2**30, "tebi": 2**40}
_UNITS: Final[dict[str, tuple[str, float]]] = {
    **{prefix + "seconds": ("seconds", factor) for prefix, factor in _DECIMAL.items()},
    **{prefix + "bytes": ("bytes", factor) for prefix, factor in {**_DECIMAL, **_BINARY}.items()},
    **{prefix + "bits": ("bytes", factor / 8) for prefix, factor in {**_DECIMAL, **_BINARY}.items()},
    **dict.fromkeys(("ns", "nanos"), ("seconds", 1e-09)),
    **dict.fromkeys(("us", "micros"), ("seconds", 1e-06)),
    **dict.fromkeys(("ms", "millis"), ("seconds", 0.001)),
    **dict.fromkeys(("sec", "secs"), ("seconds", 1.0)),
    "minutes": ("seconds", 60.0),
    "hours": ("seconds", 3600.0),
    "days": ("seconds", 86400.0),
    "weeks": ("seconds", 604800.0),
    "kb": ("bytes", 1e3),
    "mb": ("bytes", 1e6),
    "gb": ("bytes", 1e9),
    "tb": ("bytes", 1e12),
    "pb": ("bytes", 1e15),
}
# Units for some readers, anything for others: nothing is scaled, and they do not stand alone.
_AMBIGUOUS: Final = ("s", "m", "h", "d", "b")
_TYPES: Final = frozenset(Kind) | {"untyped"}
_RESERVED: Final = ("total", "sum", "count", "bucket", "info")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+[0-9]*|[0-9]+[a-z]*")
_LABEL: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_RESERVED_LABELS: Final = frozenset({"le", "quantile", "job", "instance"})


def is_label(name: str) -> bool:
    """Whether Prometheus takes it as the name of a label, and nothing else means something by it."""
    return bool(_LABEL.fullmatch(name)) and not name.startswith("__") and name not in _RESERVED_LABELS


@lru_cache(4096)
def label_name(attribute: str) -> str:
    """An attribute's name as a label; of no letters or digits it is `attribute`."""
    name = "_".join(_words(attribute)) or "attribute"
    return f"exported_{name}" if name in _RESERVED_LABELS or name[0].isdigit() else name


def exported(name: str, kind: Kind) -> Exported:
    """The family for an OTLP metric. Names that differ in punctuation only get the same one."""
    words, factor = _scaled(_joined([word for word in _words(name) if word not in _TYPES]))
    if words and words[-1] == "total":
        words.pop()
    if not words or words[0][0].isdigit():
        words.insert(0, "client")
    if kind is Kind.COUNTER:
        words.append("total")
    elif words[-1] in _RESERVED:
        words.append("value")
    return Exported("_".join(words), factor)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _joined(words: list[str]) -> list[str]:
    out: list[str] = []
    for word in words:
        if word in _AMBIGUOUS and out:
            out[-1] += word
        else:
            out.append(word)
    return out


def _scaled(words: list[str]) -> tuple[list[str], float]:
    out: list[str] = []
    factor = 1.0
    for word in words:
        base, times = _UNITS.get(word, (word, 1.0))
        factor = factor / times if out and out[-1] == "per" else factor * times
        out.append(base)
    return out, factor
