"""Write the Spark schema and the tables of the docs from the definition of events. A tool for developers.

`make generate` runs it as `python -m kproxy.observe.event_schema`. It writes kproxy/schemas/events.json and the tables
of docs/events.md; a test checks that both are up to date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Final, get_type_hints

from kproxy.observe.events import EVENTS, SCHEMA, Name

SPARK_SCHEMA: Final = Path("kproxy", "schemas", "events.json")
PAGE: Final = Path("docs", "events.md")
CLIENTS: Final = tuple(event.name for event in EVENTS if event.name.startswith("client_"))
_KINDS: Final = {
    str: "string",
    int: "long",
    float: "double",
    bool: "boolean",
    tuple[int, ...]: "array<long>",
    tuple[str, ...]: "array<string>",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A field, and the events that always have it; its value may be null."""

    name: str
    kind: str
    """Spark's name of the type."""
    events: tuple[Name, ...]
    help: str


@cache
def columns() -> tuple[Column, ...]:
    """Return the columns of all events, in order of first use; raise TypeError for a field with two types."""
    found: dict[str, list[tuple[Name, str, str]]] = {}
    for event in EVENTS:
        hints = get_type_hints(event)
        for one in fields(event):
            found.setdefault(one.name, []).append((event.name, _kind(hints[one.name]), one.metadata["help"]))
    return (*_COMMON, *(_column(name, uses) for name, uses in found.items()))


def _kind(hint: Any) -> str:
    """Return the Spark type of a field's type hint, which may allow None."""
    (of,) = [kind for option, kind in _KINDS.items() if hint in (option, option | None)]
    return of


def _column(name: str, uses: list[tuple[Name, str, str]]) -> Column:
    kinds = {kind for _, kind, _ in uses}
    if len(kinds) > 1:
        raise TypeError(f"{name} has the types {', '.join(sorted(kinds))}")
    meaning = "; ".join(dict.fromkeys(help_ for _, _, help_ in uses))
    return Column(name, kinds.pop(), tuple(event for event, _, _ in uses), meaning)


_ALL: Final = tuple(Name)
_COMMON: Final = (
    Column("event", "string", _ALL, "What happened"),
    Column("at", "string", _ALL, "When: ISO 8601 with milliseconds, UTC, as 2026-01-31T12:00:00.000Z"),
    Column(
        "schema", "long", _ALL, f"{SCHEMA}; it rises when a field goes or means something else, not when one is added"
    ),
    Column("proxy", "string", _ALL, "Which kproxy: `events.instance`, or the name of its host or pod"),
    Column("cluster", "string", _ALL, "The virtual cluster"),
    Column("number", "long", _ALL, "Counts the events of a process: one that is there twice has the same number"),
)


def spark_schema() -> str:
    """Return the schema as JSON for pyspark's `StructType.fromJson`."""
    fields_ = [
        {"name": one.name, "type": _spark_type(one.kind), "nullable": True, "metadata": {"comment": one.help}}
        for one in columns()
    ]
    return json.dumps({"type": "struct", "fields": fields_}, indent=2) + "\n"


def _spark_type(kind: str) -> object:
    element = kind.removeprefix("array<").removesuffix(">")
    return kind if kind == element else {"type": "array", "elementType": element, "containsNull": False}


def with_tables(page: str) -> str:
    """Return the page of the docs with its two tables made from the events' definition."""
    events = _table(("event", "when"), ((f"`{event.name}`", event.explained) for event in EVENTS))
    rows = ((f"`{one.name}`", f"`{one.kind}`", _of(one.events), one.help) for one in columns())
    return _put(_put(page, "Every event", events), "Every field", _table(("field", "type", "events", "meaning"), rows))


def _of(events: tuple[Name, ...]) -> str:
    if events == _ALL:
        return "all"
    clients = ["clients"] if set(CLIENTS) <= set(events) else []
    return ", ".join([*clients, *(f"`{name}`" for name in events if not clients or name not in CLIENTS)])


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "".join(f"{line}\n" for line in _lines(head, rows))


def _lines(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _put(page: str, section: str, table: str) -> str:
    """Return the page with the first table under a heading replaced; raise ValueError when there is none."""
    before, heading, rest = page.partition(f"\n## {section}\n")
    if not re.search(r"(?m)^\|", rest):
        raise ValueError(f"{section}: there is no table")
    return before + heading + re.sub(r"(?m)(^\|.*\n)+", lambda _: table, rest, count=1)


def write(root: Path) -> None:
    """Write the schema and the tables into the source tree at `root`."""
    (root / SPARK_SCHEMA).write_text(spark_schema(), encoding="utf-8")
    page = root / PAGE
    page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parents[2])
