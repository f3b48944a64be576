"""Measures the cells of one client: its process on a real Kafka, through a kproxy of its own that injects the errors.

A cell's error is injected once, by its client id. Behind that rule are rules that delay each further request of the
APIs that matter by a millisecond: so kproxy's events tell which requests came, and when.
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from confluent_kafka import Consumer, Producer, TopicPartition

from kproxy.errors import ErrorClass
from tests.conformance.cases import LOOK_UPS, Case
from tests.conformance.clients import Client
from tests.conformance.observation import Observation, Request, Step
from tests.support.backend import Backend
from tests.support.client import running
from tests.support.proxy import Proxy
from tests.support.wait import until

CLUSTER: Final = "conformance"
DEADLINE: Final = 20.0
"""Seconds for a step of an application, and no shorter than what a library needs to notice that something is lost."""
AT_ONCE: Final = 8
_MOST: Final = 200
"""Requests of a cell and API that are told of."""
_OFFSETS: Final = frozenset({"AddOffsetsToTxn", "TxnOffsetCommit"})
_WATCHED: Final = 0.001
_START: Final = 120.0
_COMMITTED: Final = 75.0
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Place:
    """A cell's names: no two cells share a topic, a group or a transactional id."""

    case: Case
    topic: str
    name: str

    @property
    def reads(self) -> bool:
        """True when the client reads, too: franz-go commits offsets in a transaction only of what it has read."""
        return self.case.work == "group" or self.case.api in _OFFSETS

    def said(self) -> dict[str, object]:
        """Return it as the driver gets it."""
        return {
            "name": self.case.name,
            "work": self.case.work,
            "topic": self.topic,
            "group": f"{self.name}-group",
            "transactional_id": f"{self.name}-id",
            "offsets": self.case.api in _OFFSETS,
            "abortable": self.case.of_class is ErrorClass.ABORTABLE,
        }


def measured(client: Client, cases: Sequence[Case], backend: Backend, directory: Path) -> list[Observation]:
    """Run all cases in one process of the client; return what was seen, in their order."""
    places = [_place(case, backend) for case in cases]
    _fill(backend, [one.topic for one in places if one.reads])
    events = directory / f"{client.name}-events-{next(_numbers)}"
    with _proxy(backend, directory, events) as proxy:
        for case in cases:
            _arm(proxy, case)
        lines = _driven(client, places, proxy.bootstrap(), directory)
    requests = _requests(events)
    return [_observed(backend, one, lines[one.case.name], requests.get(one.case.name, [])) for one in places]


def _place(case: Case, backend: Backend) -> Place:
    topic = backend.topic(1, 1)
    return Place(case, topic, f"{topic}-{case.name}")


def _fill(backend: Backend, topics: Sequence[str]) -> None:
    producer = Producer({"bootstrap.servers": backend.cluster.bootstrap, "log_level": 0})
    for topic in topics:
        for number in range(3):
            producer.produce(topic, str(number), partition=0)
    assert producer.flush(30) == 0


@contextlib.contextmanager
def _proxy(backend: Backend, directory: Path, events: Path) -> Iterator[Proxy]:
    destination = {"name": "files", "type": "files", "directory": str(events), "file_age": "1s"}
    enabled = {"faults": {"enabled": True}}
    servers = {CLUSTER: backend.cluster.bootstrap}
    proxy = Proxy(directory, servers, each=enabled, events={"destinations": [destination]})
    try:
        proxy.launch()
        until(lambda: proxy.ready, "kproxy ready", _START)
        yield proxy
        proxy.stop()  # which delivers the last events
    finally:
        proxy.kill()


def _arm(proxy: Proxy, case: Case) -> None:
    _add(proxy, case, api=case.api, error=case.error, count=1)
    for api in sorted({case.api, *LOOK_UPS}):
        _add(proxy, case, api=api, delay=_WATCHED, count=_MOST)


def _add(proxy: Proxy, case: Case, **rule: object) -> None:
    status, said = proxy.post(f"/api/v1/clusters/{CLUSTER}/faults", {"client_id": case.name, **rule})
    assert status in (200, 201), f"a rule for {case.name}: {status} {said}"


def _driven(
    client: Client, places: Sequence[Place], bootstrap: str, directory: Path
) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Run the driver; return the steps of each cell. AssertionError where a cell is missing."""
    order = {"bootstrap": bootstrap, "deadline": DEADLINE, "at_once": AT_ONCE, "cells": [one.said() for one in places]}
    with running(client.command(order, directory), directory) as process:
        process.wait(60 + len(places) * 5 * DEADLINE / AT_ONCE)
        lines = {line["cell"]: line["steps"] for line in process.lines() if "cell" in line}
    missing = {one.case.name for one in places} - lines.keys()
    assert not missing, f"{client.name} says nothing of {sorted(missing)}:\n{process.output[-3000:]}"
    return lines


def _requests(events: Path) -> dict[str, list[Request]]:
    """Return the requests by client id, in their order."""
    found: dict[str, list[Request]] = {}
    for file in sorted(events.glob("events-*")):
        for line in gzip.decompress(file.read_bytes()).splitlines():
            event = json.loads(line)
            if event["event"] == "fault_injected":
                at = datetime.fromisoformat(event["at"]).timestamp()
                one = Request(event["api"], at, hit=event["fault"] != "delay")
                found.setdefault(event["client_id"], []).append(one)
    return {name: sorted(ones, key=lambda one: one.at) for name, ones in found.items()}


def _observed(
    backend: Backend, place: Place, lines: Sequence[Mapping[str, Any]], requests: Sequence[Request]
) -> Observation:
    steps = [Step(**line) for line in lines]
    values = {"transaction": "first"}
    believed = [
        values.get(one.step, one.step) for one in steps if one.ok and one.step in ("transaction", "again", "anew")
    ]
    if place.case.work == "group":
        return Observation(place.case, steps, requests)
    return Observation(place.case, steps, requests, believed, _written(backend, place.topic, believed))


def _written(backend: Backend, topic: str, believed: Sequence[str]) -> list[str]:
    """Return the values that read_committed reads, as soon as it has read all that are believed in, or at a deadline.

    A transaction that nobody ended hides what is behind it: that is no loss, and the coordinator ends it in a minute.
    """
    settings = {"bootstrap.servers": backend.cluster.bootstrap, "group.id": "reader", "log_level": 0}
    reader = Consumer({**settings, "isolation.level": "read_committed", "auto.offset.reset": "earliest"})
    found: list[str] = []
    end = time.monotonic() + _COMMITTED
    try:
        reader.assign([TopicPartition(topic, 0, 0)])
        while set(believed) - set(found) and time.monotonic() < end:
            found += [(one.value() or b"").decode() for one in reader.consume(100, 0.2) if one.error() is None]
    finally:
        reader.close()
    return found
