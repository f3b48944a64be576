"""A virtual cluster moves to another `listen` by a reload, on a real Kafka, while real clients produce and consume."""

from __future__ import annotations

import copy
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from kproxy.local_kafka.ports import free_ports
from tests.support.backend import Backend
from tests.support.libraries import CONFLUENT_KAFKA, JAVA_4_4, Role
from tests.support.long_lived import LongLived
from tests.support.proxy import HOST, NODE_PORTS, Proxy
from tests.support.violation import never
from tests.support.wait import until

MAX_AGE = 2_000
"""Milliseconds after which the clients ask for metadata by themselves."""
_KEEPS = {"metadata.recovery.strategy": "none"}
"""Clients that never bootstrap again: they go by what metadata has told them, or not at all."""
JAVA = replace(JAVA_4_4, note="moved", settings={"all": _KEEPS | {"metadata.max.age.ms": MAX_AGE}})
LIBRDKAFKA = replace(
    CONFLUENT_KAFKA, note="moved", settings={"all": _KEEPS | {"topic.metadata.refresh.interval.ms": MAX_AGE}}
)
SOFTWARE = {JAVA: "apache-kafka-java", LIBRDKAFKA: "confluent-kafka-python"}
ROLES = {"producer": "acked", "consumer": "consumed"}


class Clients:
    """A producer and a consumer of each library, each library at a topic of its own."""

    def __init__(self, proxy: Proxy, kafka: Backend, directory: Path, stack: ExitStack) -> None:
        self.topics = {library: kafka.topic(3) for library in SOFTWARE}
        self.running = {
            library: stack.enter_context(
                LongLived(library, {kind: Role(kind, proxy.bootstrap(), topic, kind) for kind in ROLES}, directory)  # type: ignore[arg-type]
            )
            for library, topic in self.topics.items()
        }

    def go_on(self, since: float) -> None:
        """Wait until each has moved a good many records after a moment."""
        for client in self.running.values():
            for who, event in ROLES.items():
                until(
                    lambda: sum(one.at > since for one in client.events(who, event)) > 20,  # noqa: B023
                    f"records of {client.library.label}'s {who}",
                    timeout=60,
                )

    def errors(self) -> list[Any]:
        return [one for client in self.running.values() for who in ROLES for one in client.events(who, "error")]

    def lost(self, kafka: Backend) -> set[str]:
        """Return the records that were acknowledged and are not in their topics."""
        lost = set()
        for library, client in self.running.items():
            acked = {one.value for one in client.events("producer", "acked")}
            lost |= acked - set(kafka.values(self.topics[library]))
        return lost


@contextmanager
def busy(kafka: Backend, directory: Path) -> Iterator[tuple[Proxy, Clients]]:
    """A kproxy and its clients, which move records."""
    with Proxy(directory, {"a": kafka.cluster.bootstrap}) as proxy, ExitStack() as stack:
        clients = Clients(proxy, kafka, directory, stack)
        clients.go_on(0.0)
        yield proxy, clients


def connections(proxy: Proxy, software: str) -> set[int]:
    """Return the ids of the connections of clients of this software."""
    found = proxy.get_json("/api/v1/connections?cluster=a&limit=1000")["connections"]
    return {one["id"] for one in found if one["software_name"] == software}


def reloaded(proxy: Proxy, listen: int) -> tuple[int, Any]:
    """Have virtual cluster a listen at a port; return the answer."""
    config = copy.deepcopy(yaml.safe_load(proxy.config.read_text()))
    config["clusters"][0]["listen"] = f"{HOST}:{listen}"
    proxy.config.write_text(yaml.safe_dump(config))
    return proxy.post("/api/v1/reload")


def refuses(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


def established(ports: range) -> set[int]:
    """Return those of these ports at which somebody is connected."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {int(line[1].rpartition(":")[2], 16) for line in lines if line[3] == "01"} & set(ports)


def test_connections_go_on_and_clients_learn_the_new_addresses(kafka: Backend, tmp_path: Path) -> None:
    """Java keeps its connections, librdkafka takes new ones at the new ports; neither reports an error.

    After a restart of kproxy both reach the nodes at the new ports alone, which they know from metadata.
    """
    with busy(kafka, tmp_path) as (proxy, clients):
        old, new = proxy.ports["a"], free_ports(NODE_PORTS)
        served = {proxy.port(), *proxy.node_ports("a").values()}
        assert len(served) == 4
        before, asked = connections(proxy, SOFTWARE[JAVA]), proxy.metric("kproxy_requests_total", api="Metadata")
        epochs = proxy.metric("kproxy_topology_epochs_total")
        assert reloaded(proxy, new[0]) == (
            200,
            {"process": [], "clusters": {"a": ["listen"]}, "added": [], "removed": []},
        )
        assert before <= connections(proxy, SOFTWARE[JAVA])
        for port in served:
            until(lambda: refuses(port), f"port {port} to be closed")  # noqa: B023
        assert set(proxy.node_ports("a").values()) == set(new[1:4])
        until(lambda: established(new) >= set(new[1:4]), "librdkafka at the new ports")
        until(lambda: proxy.metric("kproxy_requests_total", api="Metadata") > asked + 12, "metadata for each client")
        clients.go_on(time.time())
        assert before <= connections(proxy, SOFTWARE[JAVA])
        assert proxy.metric("kproxy_topology_epochs_total") == epochs
        assert clients.errors() == []
        proxy.stop()
        proxy.ports["a"] = new
        proxy.start()
        clients.go_on(time.time())
        assert established(old) == set()
        lost = clients.lost(kafka)
        never(bool(lost), f"records acknowledged and in no log: {lost}")


def test_a_port_that_is_taken_changes_nothing(kafka: Backend, tmp_path: Path) -> None:
    """The answer names setting and address; clients go on at the old ports, without an error."""
    with busy(kafka, tmp_path) as (proxy, clients):
        taken, nodes = int(kafka.cluster.bootstrap.rpartition(":")[2]), proxy.node_ports("a")
        status, said = reloaded(proxy, taken)
        assert status == 409
        assert f"clusters.0.listen: cannot listen on {HOST}:{taken}: address already in use" in said["error"]
        assert proxy.node_ports("a") == nodes
        assert proxy.metric("kproxy_config_last_reload_successful") == 0
        clients.go_on(time.time())
        assert clients.errors() == []
        assert not any(map(refuses, (proxy.port(), *nodes.values())))
