"""kproxy.pipeline.findings.queries: a query that runs as it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from kproxy.pipeline.findings import queries

TIME = datetime(2026, 9, 21, 14, 0, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("SELECT :a, :b_2 WHERE x >= :a", {"a", "b_2"}),
        ("SELECT ':a', 'it\\':s', `:b`, x::int -- :c", set()),
        ("SELECT '^(?:x)' || :a", {"a"}),
        ("SELECT v:field", set()),
    ],
)
def test_parameters(query: str, names: set[str]) -> None:
    """What is quoted is text, and two colons are a cast."""
    assert queries.parameters(query) == names


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("SELECT * FROM clients", ("clients",)),
        ("select * from\n POINTS join events using (cluster)", ("points", "events")),
        ("SELECT * FROM a, pushes", ("pushes",)),
        ("SELECT ' FROM clients' -- FROM events", ()),
        ("SELECT connections FROM my_clients", ()),
    ],
)
def test_tables(query: str, names: tuple[str, ...]) -> None:
    """Those after FROM, JOIN or a comma."""
    assert queries.tables(query) == names


def test_runnable() -> None:
    """Times with their zone, numbers with their type, tables by their place."""
    query = "SELECT :x, :n FROM clients WHERE last_seen >= :since; \n"
    values: dict[str, queries.Value] = {"x": 0.5, "n": 3, "since": TIME}
    assert queries.runnable(query, values, lambda name: f"s3a://b`t/{name}") == (
        "WITH\n  clients AS (SELECT * FROM delta.`s3a://b``t/clients`)\nSELECT * FROM (\n"
        "SELECT 0.5D, 3 FROM clients WHERE last_seen >= TIMESTAMP'2026-09-21 12:00:00.000000Z'\n)"
    )
    assert queries.runnable("SELECT 1", {}, str) == "SELECT 1"
    assert TIME.astimezone(UTC).hour == 12
