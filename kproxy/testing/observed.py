# This module is pure (no I/O, no clock).
"""Reads what kproxy says in its metrics and its log.

`Kproxy` shows it to tests, and `KproxyProcess` finds addresses in it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kproxy.errors import ErrorClass

_SAMPLE: Final = re.compile(r"^(?P<name>[a-z_]+)\{(?P<labels>.*)\} (?P<value>\S+)$")
_LABEL: Final = re.compile(r'(\w+)="([^"]*)"')
_SHOWN_FIRST: Final = ("timestamp", "level", "event")

Errors = Mapping[tuple[str, str, str], int]
"""How many errors there were, by API, error and class."""


@dataclass(frozen=True, slots=True)
class ResponseError:
    """An error that responses of an API carried, `count` times."""

    api: str
    error: str
    """Kafka's name of its code, as NOT_LEADER_OR_FOLLOWER."""
    error_class: ErrorClass
    """What a client does about it (KIP-1050)."""
    count: int


def response_errors(metrics: str) -> Counter[tuple[str, str, str]]:
    """Return how many errors responses have carried, by API, error and class; `metrics` is a page of Prometheus."""
    return _summed(metrics, "kproxy_response_errors_total", "api", "error", "error_class")


def requests(metrics: str) -> Counter[tuple[str, ...]]:
    """Return how many requests have come, by API."""
    return _summed(metrics, "kproxy_requests_total", "api")


def since(before: Errors, now: Errors) -> list[ResponseError]:
    """Return what has come since."""
    return [
        ResponseError(api, error, ErrorClass(of), count - before.get((api, error, of), 0))
        for (api, error, of), count in sorted(now.items())
        if count > before.get((api, error, of), 0)
    ]


def _summed(metrics: str, name: str, *labels: str) -> Counter[Any]:
    """Return the sums of a metric's samples by some of their labels."""
    found: Counter[Any] = Counter()
    for sample in filter(None, map(_SAMPLE.match, metrics.splitlines())):
        if sample["name"] == name:
            has = dict(_LABEL.findall(sample["labels"]))
            found[tuple(has[label] for label in labels)] += int(float(sample["value"]))
    return found


def _lines(log: str) -> Iterator[Mapping[str, Any] | str]:
    """Return the lines of a log: fields, or a text where kproxy had no log yet."""
    for line in log.splitlines():
        try:
            fields = json.loads(line)
        except ValueError:
            yield line
            continue
        yield fields if isinstance(fields, dict) else line


def address(log: str, event: str) -> str | None:
    """Return `host:port` of the first line about this event; None where there is none."""
    fields = (line for line in _lines(log) if isinstance(line, Mapping) and line.get("event") == event)
    return next((str(line["address"]) for line in fields if "address" in line), None)


def readable(log: str) -> str:
    """Return a log of JSON lines for eyes."""
    return "\n".join(line if isinstance(line, str) else _readable(line) for line in _lines(log))


def _readable(fields: Mapping[str, Any]) -> str:
    first = [str(fields[name]) for name in _SHOWN_FIRST if name in fields]
    return " ".join([*first, *(f"{name}={value}" for name, value in fields.items() if name not in _SHOWN_FIRST)])
