"""Runs releases of clients at the brokers of one release: directly, relayed, and at groups that kproxy hosts."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from kproxy.local_kafka.cluster import Cluster
from tests.clients_table.complaint import complaint
from tests.clients_table.record import WAYS, WORKS, Ways
from tests.support.backend import Backend
from tests.support.client import running
from tests.support.client_releases import COUNT, READ, ClientRelease
from tests.support.proxy import Proxy

AT_ONCE: Final = 3
"""Clients at once: one that works waits for its group, one that does not for its deadline."""
SECONDS: Final = 90
"""A client's time. Its own deadlines are a minute."""


class Place:
    """A cluster and kproxy in front of it, where clients run."""

    def __init__(self, cluster: Cluster, directory: Path) -> None:
        self._kafka, self._directory = Backend(cluster), directory
        servers = dict.fromkeys(WAYS[1:], cluster.bootstrap)
        self._proxy = Proxy(directory, servers, own={"hosted": {"groups": [{"match": ".*"}]}})
        self._creating = threading.Lock()

    def ran(self, clients: Sequence[ClientRelease]) -> Iterator[tuple[ClientRelease, Ways]]:
        """Run each in all ways; in the order of the clients."""
        with self._proxy, ThreadPoolExecutor(AT_ONCE) as pool:
            yield from zip(clients, pool.map(self._in_all_ways, clients), strict=True)

    def _in_all_ways(self, client: ClientRelease) -> Ways:
        return {way: self._tried(client, way) for way in WAYS}

    def _tried(self, client: ClientRelease, way: str) -> str:
        directory = self._directory / f"{client}-{way}"
        directory.mkdir()
        try:
            self._run(client, way, directory)
        except AssertionError as error:
            return complaint(str(error))
        return WORKS

    def _run(self, client: ClientRelease, way: str, directory: Path) -> None:
        """Run it to its end; AssertionError where a record is lost, doubled or forgotten, or kproxy passed by."""
        with self._creating:  # the admin client makes one topic at a time
            topic = self._kafka.topic(3, 2)
        servers = self._kafka.cluster.bootstrap if way == "direct" else self._proxy.bootstrap(way)
        with running(client.command(servers, topic), directory) as process:
            printed = process.wait(timeout=SECONDS)
        assert json.loads(printed.splitlines()[-1]) == READ, printed[-2000:]
        written = sum(self._kafka.end_offsets(topic).values())
        assert written == COUNT + 1, f"error: {written} records are written, not {COUNT + 1}"
        if way != "direct":
            past = process.watch.ports - set(self._proxy.ports[way])
            assert not past, f"error: it has connected past kproxy, to {past}"
