"""kproxy.admin.api: pages of clients, cursors, and requests for one virtual cluster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kproxy.admin.api import decode_cursor, encode_cursor, identity
from kproxy.admin.message import HttpError
from kproxy.admin.models import ClientView, Rebootstrap
from tests.unit.admin.memory_view import MemoryView, client_view
from tests.unit.admin.raw import fetch


async def test_a_client(view: MemoryView, port: int) -> None:
    """Every field under its name."""
    view.connected = [replace(client_view(1), software_name=None, software_version=None, metadata_version=None)]
    assert (await fetch(port, "/api/v1/clients")).json() == {
        "clients": [
            {
                "cluster": "main",
                "host": "192.0.2.1",
                "client_id": "producer-001",
                "principal": None,
                "software_name": None,
                "software_version": None,
                "connections": 2,
                "since": "2026-01-02T03:04:05.000+00:00",
                "metadata_version": None,
                "rebootstrap": "129",
                "kip_1242": None,
            }
        ],
        "next": None,
    }


async def test_those_that_cannot(view: MemoryView, port: int) -> None:
    """By cluster, and by what would bring them back."""
    view.connected = [
        client_view(1, "other", Rebootstrap.NO),
        client_view(2, "main", Rebootstrap.NO),
        client_view(3, "main", Rebootstrap.UNKNOWN),
        client_view(4, "main", Rebootstrap.ALONE),
    ]

    async def found(query: str) -> list[str]:
        return [client["client_id"] for client in (await fetch(port, f"/api/v1/clients?{query}")).json()["clients"]]

    assert await found("rebootstrap=no") == ["producer-002", "producer-001"]
    assert await found("rebootstrap=no&cluster=other") == ["producer-001"]
    assert await found("rebootstrap=kip-899") == ["producer-004"]
    assert await found("rebootstrap=unknown&cluster=main") == ["producer-003"]
    assert await found("rebootstrap=129") == []


async def test_pages(view: MemoryView, port: int) -> None:
    """Following `next` shows each client once in order, whatever the view's order, while clients come and go."""
    view.connected = [client_view(number) for number in (7, 3, 1, 9, 5, 2, 8, 6, 4)]
    seen: list[str] = []
    query = "limit=4"
    while query:
        page = (await fetch(port, f"/api/v1/clients?{query}")).json()
        seen += [client["client_id"][-1] for client in page["clients"]]
        view.connected = [
            client for client in view.connected if client.client_id not in {"producer-001", "producer-007"}
        ]
        view.connected.append(client_view(0))
        query = page["next"] and f"limit=4&after={page['next']}"
    assert "".join(seen) == "1234568" + "9"


async def test_a_page_that_is_just_full(view: MemoryView, port: int) -> None:
    """Nothing follows it."""
    view.connected = [client_view(number) for number in range(4)]
    page = (await fetch(port, "/api/v1/clients?limit=4")).json()
    assert (len(page["clients"]), page["next"]) == (4, None)


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "rebootstrap=maybe", "rebootstrap=", "after=", "after=1"])
async def test_wrong_parameters(port: int, query: str) -> None:
    """A 400 that names the parameter."""
    reply = await fetch(port, f"/api/v1/clients?{query}")
    assert reply.status == 400
    assert reply.json()["error"].startswith(query.partition("=")[0])


@pytest.mark.parametrize(
    "client",
    [
        client_view(1),
        replace(client_view(1), client_id=None),
        replace(client_view(1), client_id=""),
        replace(client_view(1), principal="User:alice"),
        replace(client_view(1), client_id='a/b?c="ä"&\n'),
        replace(client_view(1), host="fd00::1", software_name=None, software_version=None),
    ],
)
def test_a_place_survives_the_url(client: ClientView) -> None:
    """Whatever a client calls itself; no id and an empty one are two."""
    after = encode_cursor(identity(client))
    assert decode_cursor(after) == identity(client)
    assert after.replace("-", "").replace("_", "").isalnum()


def test_identities_differ() -> None:
    """In each of their parts."""
    one = client_view(1)
    others = [
        replace(one, cluster="other"),
        replace(one, host="192.0.2.2"),
        replace(one, client_id=None),
        replace(one, client_id=""),
        replace(one, principal="User:alice"),
        replace(one, principal="User:bob"),
        replace(one, software_name=None),
        replace(one, software_version=None),
    ]
    assert len({identity(client) for client in (one, *others, replace(one, connections=9))}) == 9


@pytest.mark.parametrize(
    "after", ["", "!", "ä", "AAAA", encode_cursor(()), encode_cursor(("a",) * 4), "WzEsMiwzLDQsNV0", "W1tbW1tb" * 2000]
)
def test_a_place_that_never_was(after: str) -> None:
    """No text is a fault of kproxy's own."""
    with pytest.raises(HttpError, match="what `next` of the page before said is expected"):
        decode_cursor(after)


@pytest.mark.parametrize(
    ("method", "target", "built"),
    [
        ("GET", "/api/v1/clusters/main", ["main"]),
        ("GET", "/api/v1/clusters/main/events", []),
        ("GET", "/api/v1/connections?cluster=main", []),
        ("GET", "/api/v1/clients?cluster=main", []),
        ("POST", "/api/v1/clusters/main/rebootstrap", []),
        ("POST", "/api/v1/clusters/main/failover", []),
        ("GET", "/api/v1/clusters/main/telemetry/subscriptions", []),
        ("GET", "/api/v1/clusters/main/telemetry/instances", []),
        ("GET", "/api/v1/clusters/mian", []),
        ("GET", "/api/v1/clusters/mian/events", []),
        ("GET", "/api/v1/clusters", ["main", "other"]),
    ],
)
async def test_a_request_builds_only_the_view_that_it_shows(
    view: MemoryView, port: int, method: str, target: str, built: list[str]
) -> None:
    """A cluster's view counts all connections: a request that only names a cluster builds none."""
    await fetch(port, target, method=method)
    assert view.built == built
