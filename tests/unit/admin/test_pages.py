"""What each path of the admin port answers, over a real connection."""

from __future__ import annotations

import gzip
from html import escape

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from kproxy.admin.models import Cause, Event, Readiness, State
from kproxy.admin.routes import ROUTES
from tests.unit.admin.memory_view import MemoryView, connection_view
from tests.unit.admin.raw import fetch


async def test_livez(port: int) -> None:
    """The process is alive when it answers."""
    reply = await fetch(port, "/livez")
    assert (reply.status, reply.json()) == (200, {"state": "alive"})


@pytest.mark.parametrize(
    ("state", "target", "status"),
    [
        (State.STARTING, "/readyz", 503),
        (State.READY, "/readyz", 200),
        (State.DEGRADED, "/readyz", 200),
        (State.DRAINING, "/readyz", 503),
        (State.STARTING, "/readyz?strict", 503),
        (State.READY, "/readyz?strict", 200),
        (State.DEGRADED, "/readyz?strict", 503),
        (State.DEGRADED, "/readyz?strict=false", 200),
        (State.DRAINING, "/readyz?strict", 503),
    ],
)
async def test_readyz(view: MemoryView, port: int, state: State, target: str, status: int) -> None:
    """Degraded stays in the Service unless `strict` asks otherwise; the body says the state in any case."""
    view.ready = Readiness(state)
    reply = await fetch(port, target)
    assert (reply.status, reply.json()) == (status, {"state": state.value, "reasons": []})


async def test_readyz_gives_reasons(view: MemoryView, port: int) -> None:
    """Each cause with its cluster and node, where it has them."""
    causes = (Cause("main", 1001, "connection refused"), Cause("main", None, "no broker"), Cause(None, None, "limit"))
    view.ready = Readiness(State.DEGRADED, causes)
    assert (await fetch(port, "/readyz")).json()["reasons"] == [
        {"cluster": "main", "node": 1001, "reason": "connection refused"},
        {"cluster": "main", "node": None, "reason": "no broker"},
        {"cluster": None, "node": None, "reason": "limit"},
    ]


async def test_readyz_with_a_wrong_flag(port: int) -> None:
    """A probe that is misspelt says so, instead of being always green."""
    reply = await fetch(port, "/readyz?strict=ja")
    assert (reply.status, reply.json()) == (400, {"error": "strict='ja': true or false expected"})


async def test_metrics_as_text(port: int) -> None:
    """Prometheus' text format by default, of kproxy and of the process."""
    reply = await fetch(port, "/metrics")
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    names = {family.name for family in parse_text(reply.body.decode())}
    assert {"kproxy_requests", "kproxy_request_proxy_duration_seconds", "process_resident_memory_bytes"} <= names


async def test_metrics_as_openmetrics(port: int) -> None:
    """OpenMetrics for a client that prefers it."""
    reply = await fetch(port, "/metrics", "Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
    assert reply.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert "kproxy_requests" in {family.name for family in parse_openmetrics(reply.body.decode())}


async def test_metrics_compressed(port: int) -> None:
    """gzip for a client that takes it, also when it says so in a second header."""
    reply = await fetch(port, "/metrics", "Accept-Encoding: br", "Accept-Encoding: gzip")
    assert reply.headers["content-encoding"] == "gzip"
    assert b"kproxy_requests_total" in gzip.decompress(reply.body)


async def test_metrics_follow_the_counters(view: MemoryView, port: int) -> None:
    """Each scrape shows the counters of its moment."""
    line = b'kproxy_connections_opened_total{cluster="main"} %d.0\n'
    assert line % 2 in (await fetch(port, "/metrics")).body
    view.counters.cluster("main").connection_opened()
    assert line % 3 in (await fetch(port, "/metrics")).body


async def test_clusters(port: int) -> None:
    """All virtual clusters, with their nodes; one by its name."""
    both = (await fetch(port, "/api/v1/clusters")).json()["clusters"]
    assert [cluster["name"] for cluster in both] == ["main", "other"]
    one = (await fetch(port, "/api/v1/clusters/main")).json()
    assert one == both[0]
    assert one == {
        "name": "main",
        "cluster_id": "abc-DEF_123",
        "bootstrap_servers": ["broker7:9092", "broker8:9092"],
        "listen": "0.0.0.0:9100",
        "nodes": [
            {
                "node_id": 7,
                "upstream": "broker7:9092",
                "advertised": "kproxy:9101",
                "rack": "rack-a",
                "reachable": True,
                "connections": 1,
            },
            {
                "node_id": 2147483646,
                "upstream": "broker8:9092",
                "advertised": "kproxy:9102",
                "rack": None,
                "reachable": None,
                "connections": 0,
            },
        ],
        "unmapped": [],
        "connections": 2,
        "epoch": 1,
        "upstream": "east",
        "upstreams": [
            {
                "name": "east",
                "bootstrap_servers": ["broker7:9092", "broker8:9092"],
                "active": True,
                "reachable": True,
                "since": "2026-01-02T03:04:05.000+00:00",
                "error": None,
                "last_answer": "2026-01-02T03:05:05.000+00:00",
                "cluster_id": "id-of-east",
                "nodes": [
                    {"node_id": 7, "upstream": "broker7:9092", "reachable": True},
                    {"node_id": 8, "upstream": "broker8:9092", "reachable": True},
                ],
                "unmapped": [],
                "fit": None,
                "warnings": [],
            },
            {
                "name": "west",
                "bootstrap_servers": ["broker9:9092"],
                "active": False,
                "reachable": True,
                "since": "2026-01-02T03:04:05.000+00:00",
                "error": None,
                "last_answer": "2026-01-02T03:05:05.000+00:00",
                "cluster_id": "id-of-west",
                "nodes": [{"node_id": 7, "upstream": "broker9:9092", "reachable": True}],
                "unmapped": [],
                "fit": True,
                "warnings": [],
            },
        ],
        "agreement": None,
        "retired": [{"node_id": 3, "port": 9104, "seconds_left": 287.5, "name": None}],
        "telemetry": True,
        "hosts_groups": True,
        "faults": True,
    }


async def test_events(view: MemoryView, port: int) -> None:
    """What happened to a virtual cluster, newest last, with the fields of its log line."""
    view.happened = (
        Event("2026-01-02T03:04:05.000+00:00", "node gone", {"node": 7}),
        Event("2026-01-02T03:04:06.000+00:00", "epoch raised", {"epoch": 2, "cause": "failover"}),
    )
    assert (await fetch(port, "/api/v1/clusters/main/events")).json() == {
        "events": [
            {"at": "2026-01-02T03:04:05.000+00:00", "event": "node gone", "fields": {"node": 7}},
            {
                "at": "2026-01-02T03:04:06.000+00:00",
                "event": "epoch raised",
                "fields": {"epoch": 2, "cause": "failover"},
            },
        ]
    }


async def test_a_cluster_that_is_not_there(port: int) -> None:
    """404, with the names there are: in the path and as a filter."""
    for target in (
        "/api/v1/clusters/mian",
        "/api/v1/clusters/mian/events",
        "/api/v1/connections?cluster=mian",
        "/api/v1/clients?cluster=mian",
    ):
        reply = await fetch(port, target)
        assert (reply.status, reply.json()) == (404, {"error": "there is no cluster 'mian'; there are: main, other"})


async def test_a_connection(view: MemoryView, port: int) -> None:
    """Every field under its name."""
    view.open = [connection_view(1, "main")]
    assert (await fetch(port, "/api/v1/connections")).json() == {
        "connections": [
            {
                "id": 1,
                "cluster": "main",
                "node": 7,
                "client": "192.0.2.1:1",
                "upstream": "broker7:9092",
                "since": "2026-01-02T03:04:05Z",
                "client_id": 'order "service"',
                "principal": "User:alice",
                "software_name": "apache-kafka-java",
                "software_version": "4.3.1",
                "requests": 5,
                "responses": 4,
                "bytes_in": 500,
                "bytes_out": 400,
                "in_flight": 1,
                "paused": ["downstream"],
            }
        ],
        "next": None,
    }


async def test_connections_of_a_cluster(view: MemoryView, port: int) -> None:
    """The filter shows those of one virtual cluster."""
    view.open = [connection_view(number, "main" if number % 2 else "other") for number in range(1, 6)]
    found = (await fetch(port, "/api/v1/connections?cluster=other")).json()["connections"]
    assert [connection["id"] for connection in found] == [2, 4]


async def test_pages_of_connections(view: MemoryView, port: int) -> None:
    """Following `next` shows each connection once, also while 1 and 9 go and 11 to 13 come between the pages.

    13 comes after the last page.
    """
    view.open = [connection_view(number, "main") for number in range(1, 11)]
    seen: list[int] = []
    after: int | None = 0
    while after is not None:
        page = (await fetch(port, f"/api/v1/connections?limit=4&after={after}")).json()
        seen += [connection["id"] for connection in page["connections"]]
        after = page["next"]
        view.open = [connection for connection in view.open if connection.id not in {1, 9}]
        if view.open[-1].id < 13:
            view.open.append(connection_view(view.open[-1].id + 1, "main"))
    assert seen == [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12]


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "after=-1", f"after={2**63}"])
async def test_pages_with_wrong_parameters(port: int, query: str) -> None:
    """A 400 that names the parameter."""
    reply = await fetch(port, f"/api/v1/connections?{query}")
    assert reply.status == 400
    assert query.split("=", maxsplit=1)[0] in reply.json()["error"]


async def test_the_index_lists_every_path(view: MemoryView, port: int) -> None:
    """A person with a browser finds everything, and each link leads somewhere."""
    view.pushed = b""
    page = (await fetch(port, "/")).body.decode()
    for route in ROUTES[1:]:
        assert route.path in page
        assert escape(route.help) in page
    links = [part.split('"')[0] for part in page.split('<a href="')[1:]]
    assert len(links) == 8
    for link in links:
        assert (await fetch(port, link)).status == 200


async def test_nothing_is_cached(port: int) -> None:
    """Not even an error: every answer is of this moment."""
    for target in ("/livez", "/readyz", "/metrics", "/nowhere"):
        assert (await fetch(port, target)).headers["cache-control"] == "no-store"
