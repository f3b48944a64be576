# This module is pure (no I/O, no clock).
"""Names and labels of series, in the exposition format's form; clients' attributes have KIP-714's names.

The `prometheus` receiver calls it when it adds up pushes; the `kafka` and `otlp` receivers take clients' attributes
from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from kproxy.telemetry.subscription import kafka_text

if TYPE_CHECKING:
    from kproxy.telemetry.subscription import ClientInfo


class Kind(StrEnum):
    """The type of a family, as the exposition format names it."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    SUMMARY = "summary"


class Exported(NamedTuple):
    """A family's name, and the factor that its values are multiplied by."""

    name: str
    factor: float


MAX_NAME: Final = 256
"""The most characters of an OTLP name; Kafka's longest has about 90."""

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
# May be units or anything else: values are not scaled, and the letter is appended to the word before it.
_AMBIGUOUS: Final = ("s", "m", "h", "d", "b")
_TYPES: Final = frozenset(Kind) | {"untyped"}
_RESERVED: Final = ("total", "sum", "count", "bucket", "info")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+[0-9]*|[0-9]+[a-z]*")
_LABEL: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_RESERVED_LABELS: Final = frozenset({"le", "quantile", "job", "instance"})


def is_label(name: str) -> bool:
    """Return whether Prometheus accepts it as the name of a label, and it has no other meaning."""
    return bool(_LABEL.fullmatch(name)) and not name.startswith("__") and name not in _RESERVED_LABELS


@lru_cache(4096)
def label_name(attribute: str) -> str:
    """Return an attribute's name as a label; a name without letters and digits becomes `attribute`."""
    name = "_".join(_words(attribute)) or "attribute"
    return f"exported_{name}" if name in _RESERVED_LABELS or name[0].isdigit() else name


def exported(name: str, kind: Kind) -> Exported:
    """Return the family of an OTLP metric. Names that differ in punctuation only get the same one."""
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


CLIENT_LABELS: Final[Mapping[str, Callable[[ClientInfo], str | None]]] = MappingProxyType(
    {
        "client_instance_id": lambda info: kafka_text(info.client_instance_id),
        "client_id": lambda info: info.client_id,
        "client_software_name": lambda info: info.software_name,
        "client_software_version": lambda info: info.software_version,
        "client_source_address": lambda info: info.source_address,
        "client_source_port": lambda info: str(info.source_port),
    }
)
"""Subscriptions match by these names, too. Any other label is the resource's attribute of that name."""

DEFAULT_LABELS: Final = ("client_instance_id", "client_id", "client_software_name", "client_software_version")

MAX_VALUE: Final = 256
"""The most characters of a label's value; longer ones are cut: a client id may have 32,767."""

_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def known(info: ClientInfo) -> list[tuple[str, str]]:
    """Return what is known of a client, by label."""
    pairs = ((label, value(info)) for label, value in CLIENT_LABELS.items())
    return [(label, value) for label, value in pairs if value is not None]


def check(labels: Iterable[str]) -> None:
    """Raise ValueError for a name that cannot be a label."""
    for label in labels:
        if not is_label(label):
            raise ValueError(
                f"{label!r} cannot be a label; take one of {', '.join(CLIENT_LABELS)}, or the name of a resource "
                "attribute as group_id"
            )


def text(pairs: Iterable[tuple[str, str]]) -> str:
    """Return `a="1",b="2",`; the format allows the last comma. Empty values are left out.

    Of labels with the same name the first one counts.
    """
    first: dict[str, str] = {}
    for label, value in pairs:
        if value:
            first.setdefault(label, value[:MAX_VALUE].translate(_ESCAPES))
    return "".join([f'{label}="{value}",' for label, value in first.items()])


def client_text(labels: Iterable[str], info: ClientInfo, resource: Mapping[str, str]) -> str:
    """Return the text of the chosen `labels` of a client and its resource."""
    return text(
        (label, (CLIENT_LABELS[label](info) if label in CLIENT_LABELS else resource.get(label)) or "")
        for label in labels
    )


def point_text(attributes: Iterable[tuple[str, str]], without: frozenset[str]) -> str:
    """Return the text of a data point's attributes, sorted by name, except labels in `without`."""
    named = sorted((label_name(name), value) for name, value in attributes)
    return text((name, value) for name, value in named if name not in without)


class Labels:
    """The labels of all series: chosen ones of clients, those of data points, and `constant` ones."""

    def __init__(
        self, clients: Iterable[str], *, attributes: Iterable[str] | None, constant: Mapping[str, str]
    ) -> None:
        """`attributes` of data points are chosen by OTLP's names; None is all. ValueError for an invalid label."""
        check([*constant, *(chosen := tuple(clients))])
        # A constant label counts more than a client's of that name: Prometheus refuses a page where one occurs twice.
        self._clients = tuple(label for label in chosen if label not in constant)
        self._taken = frozenset([*constant, *self._clients])
        self._constant = text(constant.items())
        self._attributes = None if attributes is None else frozenset(attributes)
        self.merge = self._attributes is not None or "client_instance_id" not in self._clients
        """Whether several clients, or several points of one, may have the same labels."""

    def of_client(self, info: ClientInfo, resource: Mapping[str, str]) -> str:
        """Return the text of a client's labels, after the constant ones."""
        return self._constant + client_text(self._clients, info, resource)

    def of_point(self, attributes: Iterable[tuple[str, str]]) -> str:
        """Return the text of the chosen attributes, except those with the name of another label."""
        chosen = [each for each in attributes if self._attributes is None or each[0] in self._attributes]
        return point_text(chosen, self._taken)
