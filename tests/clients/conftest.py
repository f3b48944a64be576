"""A virtual cluster as a client's test sees it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.backend import Backend
from tests.support.client import Running, java_tool, running
from tests.support.proxy import Proxy

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Side:
    """One of the proxy's virtual clusters, with the real cluster behind it."""

    proxy: Proxy
    name: str
    backend: Backend
    directory: Path

    @property
    def bootstrap(self) -> str:
        """Where clients bootstrap."""
        return self.proxy.bootstrap(self.name)

    @property
    def replicas(self) -> int:
        """As many as there are brokers, at most three."""
        return min(3, len(self.backend.cluster.brokers))

    def fresh(self, kind: str) -> str:
        """A name that no other test uses."""
        return f"{kind}-{next(_numbers)}"

    @contextmanager
    def running(self, command: Sequence[str]) -> Iterator[Running]:
        """Run a client; at the end, whatever it did, it must have been connected to the proxy's ports only."""
        with running(command, self.directory) as client:
            yield client
        self.check_ports(client.watch.ports)

    def run(self, command: Sequence[str], timeout: float = 120) -> str:
        """Run a client to its end; its output."""
        with self.running(command) as client:
            return client.wait(timeout)

    def java(self, main_class: str, *arguments: str, classpath: str | None = None) -> str:
        """Run one of Kafka's tools with `--bootstrap-server` at the proxy."""
        # at the end, where a tool with subcommands takes it too
        return self.java_bare(main_class, *arguments, "--bootstrap-server", self.bootstrap, classpath=classpath)

    def java_bare(self, main_class: str, *arguments: str, classpath: str | None = None) -> str:
        """Run one of Kafka's tools to its end; its output names no broker's own port."""
        output = self.run(java_tool(main_class, *arguments, classpath=classpath))
        self.check_text(output)
        return output

    def check_ports(self, ports: set[int]) -> None:
        """The ports that a client was connected to are the proxy's, and there is one at least."""
        direct = ports & self.backend.cluster.ports
        assert not direct, f"the client connected to the brokers' own ports {sorted(direct)}"
        assert ports & set(self.proxy.ports[self.name]), f"the client never came to the proxy: {sorted(ports)}"

    def check_text(self, text: str) -> None:
        """No broker's own address in what a client shows."""
        shown = [port for port in self.backend.cluster.ports if f":{port}" in text]
        assert not shown, f"brokers' own ports {shown} in: {text[-2000:]}"

    def check_nodes(self, nodes: Sequence[tuple[int, str, int]]) -> None:
        """What a client was told of the nodes (id, host, port): each broker's id, at the proxy's address for it."""
        ports = self.proxy.node_ports(self.name)
        assert {node_id: (host, port) for node_id, host, port in nodes} == {
            node_id: ("127.0.0.1", ports[node_id]) for node_id in self.backend.cluster.brokers
        }


@pytest.fixture(params=["kafka", "newest"])
def side(request: pytest.FixtureRequest, both: Proxy, tmp_path: Path) -> Side:
    """Each of the two virtual clusters: three brokers of 4.3.1, one node of 4.4.0."""
    backend = request.getfixturevalue("kafka" if request.param == "kafka" else "newest_kafka")
    return Side(both, request.param, backend, tmp_path)


@pytest.fixture
def three(both: Proxy, kafka: Backend, tmp_path: Path) -> Side:
    """The virtual cluster of three brokers."""
    return Side(both, "kafka", kafka, tmp_path)
