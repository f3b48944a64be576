"""A rule's query becomes text that runs in Spark SQL as it is: with its parameters, and its tables by their place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

from kproxy.pipeline.tables import TABLES

Value = float | datetime

_QUOTED: Final = r"'(?:[^'\\]|\\.)*'|`[^`]*`|--[^\n]*"
_PARAMETER: Final = re.compile(rf"{_QUOTED}|(?<![:\w]):(?P<name>[a-zA-Z_]\w*)", re.DOTALL)
_TABLE: Final = re.compile(
    rf"(?:\bFROM|\bJOIN|,)\s+(?P<name>{'|'.join(TABLES)})\b|{_QUOTED}", re.IGNORECASE | re.DOTALL
)


def parameters(query: str) -> frozenset[str]:
    """The names of a query's parameters; what is quoted, or a comment, has none."""
    return frozenset(match["name"] for match in _PARAMETER.finditer(query) if match["name"])


def tables(query: str) -> tuple[str, ...]:
    """The tables that a query may read, in the order of the contract."""
    found = {match["name"].lower() for match in _TABLE.finditer(query) if match["name"]}
    return tuple(name for name in TABLES if name in found)


def runnable(query: str, values: Mapping[str, Value], place: Callable[[str], str]) -> str:
    """Return the query with its parameters filled in, and its tables at the paths that `place` gives by name."""
    filled = _PARAMETER.sub(lambda match: _literal(values[match["name"]]) if match["name"] else match[0], query)
    body = filled.strip().rstrip(";").rstrip()
    named = ",\n".join(f"  {name} AS (SELECT * FROM delta.{_quoted(place(name))})" for name in tables(query))
    return f"WITH\n{named}\nSELECT * FROM (\n{body}\n)" if named else body


def _quoted(path: str) -> str:
    return "`" + path.replace("`", "``") + "`"


def _literal(value: Value) -> str:
    if isinstance(value, datetime):
        return f"TIMESTAMP'{value.astimezone(UTC).strftime('%Y-%m-%d %H:%M:%S.%f')}Z'"
    return f"{value!r}D" if isinstance(value, float) else repr(value)
