"""`/api/v1/transactions`: every field, filters and pages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.admin.memory_view import MemoryView, transactional_views
from tests.unit.admin.raw import fetch

PATH = "/api/v1/transactions"
AT = "2026-01-02T03:04:05.000+00:00"


async def test_an_id(view: MemoryView, port: int) -> None:
    """Every field under its name."""
    view.transactional = transactional_views("orders")
    (found,) = (await fetch(port, PATH)).json()["transactions"]
    assert found == {
        "cluster": "main",
        "transactional_id": "orders",
        "state": "begun",
        "since": AT,
        "ending": None,
        "transaction_timeout": 60.0,
        "producer_id": 7,
        "producer_epoch": 1,
        "client_id": "orders-1",
        "host": "192.0.2.1",
        "software_name": "apache-kafka-java",
        "software_version": "4.4.0",
        "principal": "User:alice",
        "begun": AT,
        "partitions": 2,
        "groups": ["billing"],
        "last_result": None,
        "last_cause": None,
        "last_ended": None,
        "committed": 0,
        "aborted": 0,
        "last_error": {"at": AT, "api": "Produce", "error": "TRANSACTION_ABORTABLE", "error_class": "abortable"},
        "fencings": 1,
        "last_fenced": {
            "at": AT,
            "client_id": "orders-0",
            "host": "192.0.2.1",
            "software_name": None,
            "software_version": None,
            "principal": "User:alice",
            "producer_epoch": 0,
            "error": "INVALID_PRODUCER_EPOCH",
        },
    }


async def test_filters(view: MemoryView, port: int) -> None:
    """By virtual cluster, by state, and those of which a producer was fenced."""
    first, second = transactional_views("a", "b")
    (elsewhere,) = transactional_views("c", cluster="other")
    view.transactional = [first, replace(second, state="committed"), elsewhere]

    async def found(query: str) -> list[str]:
        return [one["transactional_id"] for one in (await fetch(port, f"{PATH}?{query}")).json()["transactions"]]

    assert await found("") == ["a", "b", "c"]
    assert await found("cluster=other") == ["c"]
    assert await found("state=begun") == ["a", "c"]
    assert await found("state=timed_out") == []
    assert await found("fenced") == ["a", "c"]
    assert await found("fenced=true&cluster=main&state=begun") == ["a"]


async def test_pages(view: MemoryView, port: int) -> None:
    """Following `next` shows each id once, in order, however long its name."""
    names = [letter * 256 for letter in "edcba"] + ["\U0001f600" * 256]
    view.transactional = transactional_views(*names)
    seen, query = list[str](), ""
    while True:
        page = (await fetch(port, f"{PATH}?limit=2{query}")).json()
        seen += [one["transactional_id"] for one in page["transactions"]]
        if page["next"] is None:
            break
        query = f"&after={page['next']}"
    assert seen == sorted(names)


@pytest.mark.parametrize(
    ("query", "status"),
    [("state=open", 400), ("cluster=mian", 404), ("limit=0", 400), ("after=x", 400), ("after=WyJhIl0", 400)],
)
async def test_wrong_parameters(port: int, query: str, status: int) -> None:
    """Refused; a cursor of another list, too."""
    assert (await fetch(port, f"{PATH}?{query}")).status == status
