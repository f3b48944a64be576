"""/metrics/clients and /api/v1/clusters/{cluster}/telemetry: what is pushed, by whom, and who changes it."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from kproxy.errors import CommandError, ConflictError, InvalidArgumentError
from tests.unit.admin.memory_view import MemoryView, instance_view
from tests.unit.admin.raw import Reply, exchange, fetch, replies

TELEMETRY = "/api/v1/clusters/main/telemetry"
JSON = "Content-Type: application/json"
ALL = {"name": "all", "metrics": ["*"], "interval_ms": 300_000, "match": {}, "fixed": True}


async def send(port: int, method: str, target: str, body: str = "", *headers: str) -> Reply:
    """A request on a connection of its own, with a Host and what else is given."""
    lines = [f"{method} {target} HTTP/1.1", "Host: kproxy:9190", "Connection: close", f"Content-Length: {len(body)}"]
    received = await exchange(port, "\r\n".join([*lines, *headers, "", body]).encode())
    return replies(received, method)[0]


async def put(port: int, name: str, body: str) -> Reply:
    """A subscription for "main"."""
    return await send(port, "PUT", f"{TELEMETRY}/subscriptions/{name}", body, JSON)


async def test_the_page_of_clients(view: MemoryView, port: int) -> None:
    """As the receiver wrote it; compressed where the scraper takes it."""
    view.pushed = b"# TYPE a counter\na 1\n"
    plain = await fetch(port, "/metrics/clients")
    assert (plain.status, plain.body) == (200, view.pushed)
    assert plain.headers["content-type"] == "text/plain; version=0.0.4"
    assert "content-encoding" not in plain.headers
    small = await send(port, "GET", "/metrics/clients", "", "Accept-Encoding: gzip")
    assert (small.headers["content-encoding"], gzip.decompress(small.body)) == ("gzip", view.pushed)
    assert plain.headers["vary"] == small.headers["vary"] == "Accept-Encoding"


async def test_no_page_of_clients(port: int) -> None:
    """404, and what would make one."""
    reply = await fetch(port, "/metrics/clients")
    assert reply.status == 404
    assert "receiver of type prometheus: see `receivers` and `telemetry`" in reply.json()["error"]


async def test_subscriptions(port: int) -> None:
    """With who may change each."""
    reply = await fetch(port, f"{TELEMETRY}/subscriptions")
    assert (reply.status, reply.json()) == (200, {"subscriptions": [ALL]})


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ('{"metrics": ["a.", "b."]}', {"metrics": ["a.", "b."], "interval_ms": 300_000, "match": {}}),
        (
            '{"metrics": ["*"], "interval_ms": 1000, "match": {"client_id": "a.*"}}',
            {"metrics": ["*"], "interval_ms": 1000, "match": {"client_id": "a.*"}},
        ),
        ('{"metrics": [""], "interval_ms": null}', {"metrics": ["*"], "interval_ms": 300_000, "match": {}}),
    ],
)
async def test_subscribe(view: MemoryView, port: int, body: str, shown: dict[str, Any]) -> None:
    """What was made is what is answered, and listed from then on."""
    reply = await put(port, "new%20one", body)
    assert (reply.status, reply.json()) == (200, {"name": "new one", "fixed": False} | shown)
    listed = (await fetch(port, f"{TELEMETRY}/subscriptions")).json()
    assert listed == {"subscriptions": [ALL, {"name": "new one", "fixed": False} | shown]}


@pytest.mark.parametrize(
    "body",
    [
        "", "{}", '{"metrics": []}', '{"metrics": null}', '{"metrics": "*"}', '{"metrics": [1]}', "[]",
        '{"metrics": ["*"], "interval_ms": "1m"}', '{"metrics": ["*"], "interval_ms": true}',
        '{"metrics": ["*"], "match": ["a"]}', '{"metrics": ["*"], "match": {"a": 1}}',
        '{"metrics": ["*"], "name": "b"}',
    ],
)  # fmt: skip
async def test_bodies_that_are_not_understood(view: MemoryView, port: int, body: str) -> None:
    """400, and nothing is changed by half."""
    assert (await put(port, "new", body)).status == 400
    assert view.commands == []


@pytest.mark.parametrize(
    ("refusal", "status"),
    [
        (InvalidArgumentError("match: unknown key 'a'"), 400),
        (ConflictError("there are 1000 subscriptions already"), 409),
    ],
)
async def test_what_is_not_carried_out(view: MemoryView, port: int, refusal: CommandError, status: int) -> None:
    """The reason, word for word, under the status of its kind."""
    view.refusal = refusal
    reply = await put(port, "new", '{"metrics": ["*"]}')
    assert (reply.status, reply.json()) == (status, {"error": str(refusal)})


async def test_unsubscribe(view: MemoryView, port: int) -> None:
    """It is gone; a second time there is none."""
    await put(port, "new", '{"metrics": ["*"]}')
    target = f"{TELEMETRY}/subscriptions/new"
    gone = await send(port, "DELETE", target)
    assert (gone.status, gone.json()) == (200, {"cluster": "main", "name": "new"})
    again = await send(port, "DELETE", target)
    assert (again.status, again.json()) == (404, {"error": "main has no subscription 'new'; there are: all"})
    assert list(view.subscribed) == ["all"]


async def test_what_the_configuration_sets(view: MemoryView, port: int) -> None:
    """409 for both ways to change it."""
    changed = await put(port, "all", '{"metrics": ["*"]}')
    gone = await send(port, "DELETE", f"{TELEMETRY}/subscriptions/all")
    assert changed.status == gone.status == 409
    assert "configuration" in changed.json()["error"]
    assert view.subscribed["all"].fixed


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "subscriptions"),
        ("PUT", "subscriptions/new"),
        ("DELETE", "subscriptions/new"),
        ("GET", "instances"),
    ],
)
async def test_a_cluster_without_telemetry(port: int, method: str, path: str) -> None:
    """404 that says so; one that is not there, with the names there are."""
    body = ['{"metrics": ["*"]}', JSON] if method == "PUT" else []
    without = await send(port, method, f"/api/v1/clusters/other/telemetry/{path}", *body)
    assert (without.status, without.json()) == (404, {"error": "other: kproxy serves no telemetry for it"})
    absent = await send(port, method, f"/api/v1/clusters/mian/telemetry/{path}", *body)
    assert absent.json() == {"error": "there is no cluster 'mian'; there are: main, other"}


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
async def test_a_page_of_another_site(view: MemoryView, port: int, method: str) -> None:
    """A browser that shows it changes nothing."""
    target = f"{TELEMETRY}/subscriptions/new"
    reply = await send(port, method, target, '{"metrics": ["*"]}', JSON, "Origin: http://evil.example")
    assert (reply.status, view.commands) == (403, [])


async def test_instances(view: MemoryView, port: int) -> None:
    """Everything that is known of one."""
    view.pushing = [instance_view(1)]
    reply = await fetch(port, f"{TELEMETRY}/instances")
    assert (reply.status, reply.json()) == (
        200,
        {
            "instances": [
                {
                    "id": "AAAAAAAAAAAAAAAAAAAAAQ",
                    "client": "192.0.2.1:1",
                    "client_id": "producer-001",
                    "software_name": "apache-kafka-java",
                    "software_version": "4.3.1",
                    "subscriptions": ["all", "java"],
                    "interval_ms": 60_000,
                    "last_seen": "2026-01-02T03:04:05.000+00:00",
                    "last_push": "2026-01-02T03:04:04.000+00:00",
                    "pushes": 2,
                    "bytes": 3000,
                    "last_error": "TELEMETRY_TOO_LARGE",
                    "last_error_reason": "more than 64 attributes in one message",
                    "dropped_points": 12,
                    "dropped_reason": "address_share",
                }
            ],
            "next": None,
        },
    )


async def test_pages_of_instances(view: MemoryView, port: int) -> None:
    """Each once, in pages of the size that is asked for, to the end."""
    view.pushing = [instance_view(number) for number in range(1, 251)]
    found, query = [], "?limit=100"
    while True:
        page = (await fetch(port, f"{TELEMETRY}/instances{query}")).json()
        assert len(page["instances"]) <= 100
        found += [instance["id"] for instance in page["instances"]]
        if page["next"] is None:
            break
        query = f"?limit=100&after={page['next']}"
    assert found == [instance.id for instance in view.pushing]


@pytest.mark.parametrize("query", ["after=x", "after=", "after=%ff", "after=AAAA", "limit=0", "limit=1001", "limit=a"])
async def test_wrong_parameters(port: int, query: str) -> None:
    """400, with what was expected."""
    reply = await fetch(port, f"{TELEMETRY}/instances?{query}")
    assert reply.status == 400
    assert "expected" in reply.json()["error"]
