"""kproxy.observe.events: how events are written, and that docs/events.md says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kproxy.observe.events import CLIENT, EXPLAINED, FIELDS, MAX_TEXT, SCHEMA, Name, bounded, encode, iso

DOCS = (Path(__file__).parents[3] / "docs" / "events.md").read_text()
AT = 1_769_860_800.0625


def rows(section: str) -> list[list[str]]:
    """The cells of all table rows under a heading, heads and rules left out."""
    text = DOCS.split(f"\n## {section}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def shown(events: tuple[Name, ...]) -> str:
    """Events as the table has them."""
    if set(events) == set(Name):
        return "all"
    return "clients" if events == CLIENT else ", ".join(f"`{name}`" for name in events)


def test_every_event_is_described() -> None:
    """The same names, in the same words."""
    assert rows("Every event") == [[f"`{name}`", EXPLAINED[name]] for name in Name]


def test_every_field_is_described() -> None:
    """Names, types, events and words."""
    assert rows("Every field") == [[f"`{f.name}`", f"`{f.kind}`", shown(f.events), f.help] for f in FIELDS]
    assert f"cut at {MAX_TEXT} characters" in DOCS


def test_names_are_given_once() -> None:
    """A column has one type."""
    assert len({field.name for field in FIELDS}) == len(FIELDS)


@pytest.mark.parametrize("name", Name)
def test_how_events_are_written(name: Name) -> None:
    """One line of JSON, with what all of them have in front; nulls are there."""
    event = encode(name, AT, "kproxy-0", "orders", {"connection": 7, "client_id": None})
    assert json.loads(event.payload) == {
        "event": name.value,
        "at": "2026-01-31T12:00:00.062Z",
        "schema": SCHEMA,
        "proxy": "kproxy-0",
        "cluster": "orders",
        "connection": 7,
        "client_id": None,
    }
    assert b"\n" not in event.payload
    assert (event.name, event.at_ms) == (name, 1_769_860_800_062)
    assert event.key == (b"kproxy-0/7" if name in CLIENT else b"orders")


def test_texts_of_clients() -> None:
    """Any text is UTF-8 in one line, and no longer than may be kept."""
    event = encode(Name.CLIENT_PRESENT, AT, "p", "c", {"connection": 1, "client_id": 'a\n"ж\ud800'})
    assert json.loads(event.payload)["client_id"] == 'a\n"ж?'
    assert event.payload.count(b"\n") == 0
    assert bounded(None) is None
    assert bounded("x" * 40_000) == "x" * MAX_TEXT
    assert iso(0) == "1970-01-01T00:00:00.000Z"
