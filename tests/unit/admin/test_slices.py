"""Pages are made in slices: however long one is, the relay has its turns while it is made. What is counted is work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

import pytest

from kproxy.admin.models import ClientView, ConnectionView, Event, InstanceView
from tests.unit.admin.memory_view import FIXED, MemoryView, client_view, connection_view, instance_view
from tests.unit.admin.raw import fetch
from tests.unit.admin.steps import Steps, counted

Row = TypeVar("Row")
HOSTILE = "\U0001f480" * 256
"""A name of the greatest length; each of its characters is twelve bytes of JSON."""
ROWS = 1000


@dataclass
class WatchedView(MemoryView):
    """Counts how many rows are made in each step of a task."""

    steps: Steps = field(default_factory=Steps)
    in_step: Counter[int] = field(default_factory=Counter)

    def watched(self, rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            self.in_step[self.steps.number] += 1
            yield row

    def connections(self, cluster: str | None, after: int) -> Iterable[ConnectionView | None]:
        return self.watched(super().connections(cluster, after))

    async def clients(self, cluster: str | None) -> Iterable[ClientView]:
        return self.watched(await super().clients(cluster))

    def events(self, cluster: str) -> Iterable[Event]:
        return self.watched(super().events(cluster))

    async def instances(self, cluster: str, after: object, limit: int) -> Iterable[InstanceView]:
        return self.watched(self.pushing[:limit])


@pytest.fixture
def view() -> WatchedView:
    return WatchedView()


def with_connections(view: WatchedView) -> None:
    hostile = replace(
        connection_view(0, "main"),
        client_id=HOSTILE,
        principal=HOSTILE,
        software_name=HOSTILE,
        software_version=HOSTILE,
    )
    view.open = [replace(hostile, id=number) for number in range(1, ROWS + 1)]


def with_others_connections(view: WatchedView) -> None:
    view.open = [connection_view(number, "other") for number in range(1, 50 * ROWS)]


def with_clients(view: WatchedView) -> None:
    view.connected = [client_view(number) for number in range(20 * ROWS)]


def with_events(view: WatchedView) -> None:
    view.happened = tuple(Event("2026-01-02", "moved", {"text": HOSTILE, "n": number}) for number in range(ROWS))


def with_instances(view: WatchedView) -> None:
    view.pushing = [replace(instance_view(number), client_id=HOSTILE) for number in range(ROWS)]


@pytest.mark.parametrize(
    ("fill", "path", "at_most"),
    [
        (with_connections, "/api/v1/connections?limit=1000", ROWS // 10),
        (with_others_connections, "/api/v1/connections?limit=1000&cluster=main", 10 * ROWS),
        (with_clients, "/api/v1/clients?limit=1000", 2 * ROWS),
        (with_events, "/api/v1/clusters/main/events", ROWS // 5),
        (with_instances, "/api/v1/clusters/main/telemetry/instances?limit=1000", ROWS // 5),
    ],
)
async def test_no_step_makes_a_whole_page(
    view: WatchedView, port: int, fill: Callable[[WatchedView], None], path: str, at_most: int
) -> None:
    """A step makes a small part of it. Before there were slices, it made all."""
    fill(view)
    with counted() as view.steps:
        reply = await fetch(port, path)
    assert reply.status == 200
    assert isinstance(reply.json(), dict)
    assert 0 < max(view.in_step.values()) <= at_most


async def test_long_subscriptions(view: WatchedView, port: int) -> None:
    """200 of 32 kB, as Kafka's tools may make them: sent in pieces, never in memory whole."""
    view.subscribed = {str(number): replace(FIXED, name=str(number), metrics=("x" * 32_000,)) for number in range(200)}
    with counted() as steps:
        reply = await fetch(port, "/api/v1/clusters/main/telemetry/subscriptions")
    assert len(reply.json()["subscriptions"]) == 200
    assert reply.headers["transfer-encoding"] == "chunked"
    assert steps.number > 200


async def test_a_fault_in_the_middle_of_a_page(view: WatchedView, port: int) -> None:
    """The client sees that the page has no end, and others are served."""

    def failing() -> Iterator[ConnectionView]:
        yield from [replace(connection_view(1, "main"), client_id="x" * 20_000)] * 3
        raise RuntimeError("secret detail")

    view.open = failing()  # type: ignore[assignment]
    with pytest.raises(Exception, match="without sending complete message body"):
        await fetch(port, "/api/v1/connections")
    assert (await fetch(port, "/livez")).status == 200


@pytest.mark.parametrize("path", ["/api/v1/connections", "/api/v1/clients", "/api/v1/clusters"])
async def test_head_of_a_page_makes_none(view: WatchedView, port: int, path: str) -> None:
    """HEAD has the same status, no body and no end to wait for."""
    with_connections(view)
    reply = await fetch(port, path, method="HEAD")
    assert (reply.status, reply.body) == (200, b"")
    assert not view.in_step
