"""Runs releases of clients at the brokers of one release: directly, relayed, and at groups that kproxy hosts."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from typing import Final

from kproxy.local_kafka.cluster import Cluster
from tests.clients_table.complaint import complaint
from tests.clients_table.record import WAYS, WORKS, Ways
from tests.support import client_commands
from tests.support.backend import Backend
from tests.support.client import Running, running
from tests.support.client_releases import COUNT, READ, ClientRelease, Login
from tests.support.proxy import Proxy

AT_ONCE: Final = 4
"""Clients at once: one that works waits for its group, one that does not for its deadline."""
SECONDS: Final = 240
"""A client's time. Its own deadlines are a minute, MirrorMaker's are three."""


class Place:
    """A cluster and kproxy in front of it, where clients run; `servers` are the brokers' where clients log in."""

    def __init__(self, cluster: Cluster, directory: Path, servers: str = "", login: Login | None = None) -> None:
        self._kafka, self._directory = Backend(cluster), directory
        self._servers, self._login = servers or cluster.bootstrap, login
        behind = dict.fromkeys(WAYS[1:], self._servers)
        self._proxy = Proxy(directory, behind, own={"hosted": {"groups": [{"match": ".*"}]}})
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
        with self._creating:  # the admin client makes one topic at a time
            topic = self._kafka.topic(3, 2)
        servers = self._servers if way == "direct" else self._proxy.bootstrap(way)
        with running(client_commands.command(client, servers, topic, self._login), directory) as process:
            works = self._ends_well(process) and self._is_written(topic)
        if way != "direct" and not process.watch.ports <= set(self._proxy.ports[way]):
            return f"it has connected past kproxy, to {process.watch.ports}"
        if works and way == "hosted" and self._is_hosted(topic) is not client.is_member:
            return f"kproxy has {'not ' * client.is_member}hosted its group"
        return WORKS if works else complaint(process.output, topic)

    def _is_hosted(self, group: str) -> bool:
        """Say whether kproxy knows the group, as it does for a while after its last member has left."""
        return self._proxy.get(f"/api/v1/clusters/hosted/groups/{group}")[0] == HTTPStatus.OK

    @staticmethod
    def _ends_well(process: Running) -> bool:
        """Say whether it ends in time, and has read what it wrote."""
        try:
            printed = process.wait(timeout=SECONDS)
        except AssertionError:
            return False
        read: object = json.loads(printed.splitlines()[-1])
        return read == READ

    def _is_written(self, topic: str) -> bool:
        """Say whether nothing is doubled, either."""
        return sum(self._kafka.end_offsets(topic).values()) == COUNT + 1
