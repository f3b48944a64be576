"""A virtual cluster as a client's test uses it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.backend import Backend
from tests.support.client import Running, java_tool, running
from tests.support.proxy import Proxy
from tests.support.violation import checking, never

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
        """The replicas of a topic: as many as there are brokers, at most three."""
        return min(3, len(self.backend.cluster.brokers))

    def fresh(self, kind: str) -> str:
        """Return a name that no other test uses."""
        return f"{kind}-{next(_numbers)}"

    @contextmanager
    def running(self, command: Sequence[str]) -> Iterator[Running]:
        """Run a client; check at the end that it was connected to the proxy's ports only."""
        opened = self._opened()
        watched: set[int] = set()
        with checking(lambda: self.check_ports(watched)), running(command, self.directory) as client:
            watched = client.watch.ports
            yield client
        assert self._opened() > opened, "the client never came to the proxy"

    def run(self, command: Sequence[str], timeout: float = 120) -> str:
        """Run a client to its end; return its output."""
        with self.running(command) as client:
            return client.wait(timeout)

    def java(self, main_class: str, *arguments: str, classpath: str | None = None) -> str:
        """Run one of Kafka's tools with `--bootstrap-server` at the proxy."""
        return self.java_bare(main_class, "--bootstrap-server", self.bootstrap, *arguments, classpath=classpath)

    def java_bare(self, main_class: str, *arguments: str, classpath: str | None = None) -> str:
        """Run one of Kafka's tools to its end; its output must name no broker's own port."""
        with self.running(java_tool(main_class, *arguments, classpath=classpath)) as client:
            try:
                return client.wait()
            finally:
                self.check_text(client.output)

    def check_ports(self, ports: set[int]) -> None:
        """Check that no port that a client was connected to is a broker's own."""
        direct = ports & self.backend.cluster.ports
        never(bool(direct), f"the client connected to the brokers' own ports {sorted(direct)}")

    def _opened(self) -> float:
        return self.proxy.metric("kproxy_connections_opened_total", cluster=self.name)

    def check_text(self, text: str) -> None:
        """Check that a client's output shows no broker's own address."""
        shown = [port for port in self.backend.cluster.ports if f"127.0.0.1:{port}" in text]
        never(bool(shown), f"brokers' own ports {shown} in: {text[-2000:]}")

    def check_told(self, nodes: Sequence[tuple[int, str, int]]) -> None:
        """Check that no node (id, host, port) of which a client was told is at a broker's own port."""
        own = [node for node in nodes if node[2] in self.backend.cluster.ports]
        never(bool(own), f"the client was told of the brokers' own ports {own}")

    def check_nodes(self, nodes: Sequence[tuple[int, str, int]]) -> None:
        """Check a client's view of the nodes (id, host, port): each broker's id, at the proxy's address for it."""
        self.check_told(nodes)
        ports = self.proxy.node_ports(self.name)
        assert {node_id: (host, port) for node_id, host, port in nodes} == {
            node_id: ("127.0.0.1", ports[node_id]) for node_id in self.backend.cluster.brokers
        }


def leader_port(proxy: Proxy, kafka: Backend, topic: str) -> int:
    """Return the advertised port of the node that leads partition 0."""
    return proxy.node_ports()[kafka.leaders(topic)[0]]
