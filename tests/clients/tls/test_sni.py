"""Two virtual clusters at one port by name (SNI), each with a wildcard certificate: real clients, and real Kafka."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from kproxy.local_kafka.broker import HOST
from kproxy.local_kafka.ports import free_port
from tests.clients.test_java_tools import TOOLS, objects
from tests.clients.test_python_clients import check_everything, check_transactions
from tests.clients.tls.test_certificates import check_records, over_tls
from tests.support.authority import Authority, Certificate
from tests.support.backend import Backend
from tests.support.client import PYTHON_CLIENTS, java_3_9, java_4_4, java_tool, running
from tests.support.libraries import CONFLUENT_KAFKA, JAVA_4_4, Library, Role
from tests.support.long_lived import LongLived
from tests.support.named_hosts import named_hosts
from tests.support.proxy import Proxy
from tests.support.side import Side
from tests.support.violation import check_read, check_written
from tests.support.wait import until

pytestmark = pytest.mark.timeout(300)
CLIENTS: Final = (*PYTHON_CLIENTS, pytest.param("kafkajs", marks=pytest.mark.node))
RECORDS: Final = 500
GRACE: Final = "5s"


@dataclass(frozen=True)
class SharedPort:
    """kproxy with both virtual clusters, and the port at which all clients come."""

    proxy: Proxy
    port: int
    authority: Authority
    backends: dict[str, Backend]

    def bootstrap(self, name: str) -> str:
        return f"{name}.example.com:{self.port}"

    def nodes(self, name: str) -> dict[int, str]:
        """Return the advertised address of each node, as the API shows it."""
        shown = self.proxy.get_json(f"/api/v1/clusters/{name}")["nodes"]
        return {node["node_id"]: node["advertised"] for node in shown}


@dataclass(frozen=True)
class NamedSide(Side):
    """A virtual cluster whose nodes have names."""

    port: int

    @property
    def bootstrap(self) -> str:
        return f"{self.name}.example.com:{self.port}"

    def check_nodes(self, nodes: Sequence[tuple[int, str, int]]) -> None:
        """Check a client's view of the nodes: each has its name, at the one port."""
        self.check_told(nodes)
        assert {tuple(node) for node in nodes} == {
            (node_id, f"broker-{node_id}.{self.name}.example.com", self.port)
            for node_id in self.backend.cluster.brokers
        }


def settings(name: str, port: int, own: Certificate, **backend: Any) -> dict[str, Any]:
    """Return the settings of a virtual cluster at the shared port."""
    return {
        "name": name,
        "listen": f"{HOST}:{port}",
        "advertised_host": f"{name}.example.com",
        "tls": {"certificate": str(own.chain), "key": str(own.key)},
        "nodes": {"strategy": "sni", "pattern": f"broker-$(node_id).{name}.example.com"},
        **backend,
    }


def wildcard(authority: Authority, name: str, file: str = "") -> Certificate:
    """Return a certificate for the bootstrap name and every node's."""
    return authority.signed(file or name, f"DNS:{name}.example.com", f"DNS:*.{name}.example.com")


@pytest.fixture(scope="module")
def shared(
    authority: Authority, kafka: Backend, newest_kafka: Backend, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SharedPort]:
    """`orders` before three brokers, with another upstream to fail over to; `bills` before that one."""
    directory, port = tmp_path_factory.mktemp("sni"), free_port()
    servers = {"kafka": kafka.cluster.bootstrap, "newest": newest_kafka.cluster.bootstrap}
    upstreams = [{"name": name, "bootstrap_servers": each} for name, each in servers.items()]
    clusters = [
        settings("orders", port, wildcard(authority, "orders"), upstreams=upstreams),
        settings("bills", port, wildcard(authority, "bills"), bootstrap_servers=servers["newest"]),
    ]
    topology = {"interval": "1s", "epoch_floor": "1s", "grace": GRACE}
    proxy = Proxy(directory, {"orders": "", "bills": ""}, clusters=clusters, topology=topology)
    with proxy, named_hosts(directory):
        yield SharedPort(proxy, port, authority, {"orders": kafka, "bills": newest_kafka})


@pytest.fixture(params=["orders", "bills"])
def side(request: pytest.FixtureRequest, shared: SharedPort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Side:
    """Each of the two."""
    monkeypatch.setenv("TEST_SECURITY", json.dumps({"ca": str(shared.authority.file)}))
    return NamedSide(shared.proxy, request.param, shared.backends[request.param], tmp_path, shared.port)


@pytest.mark.parametrize("client", CLIENTS)
def test_every_acks_byte_exact(side: Side, client: str) -> None:
    """Records are consumed by a group, byte for byte, and clients see each node by its name at the one port."""
    check_everything(side, client)


@pytest.mark.parametrize("client", CLIENTS)
def test_transactions(side: Side, client: str) -> None:
    """Their coordinators are reached by name, too."""
    check_transactions(side, client)


def trusting(authority: Authority, directory: Path) -> Path:
    """Write a Java client's settings into a file."""
    file = directory / "client.properties"
    trust = f"ssl.truststore.type=PEM\nssl.truststore.location={authority.file}\n"
    file.write_text(f"security.protocol=SSL\n{trust}")
    return file


@pytest.mark.parametrize(
    ("release", "options"),
    [(java_3_9, ("--producer.config", "--consumer.config")), (java_4_4, ("--command-config",) * 2)],
    ids=["3.9", "4.4"],
)
def test_java(side: Side, shared: SharedPort, release: Any, options: tuple[str, str], tmp_path: Path) -> None:
    """Java checks the name of every node: each value that the producer reports as acknowledged arrives."""
    topic, config = side.backend.topic(3), str(trusting(shared.authority, tmp_path))
    common = ("--topic", topic, "--max-messages", str(RECORDS))
    sent = objects(side.java(f"{TOOLS}.VerifiableProducer", *common, options[0], config, classpath=release()))
    acknowledged = sorted(int(line["value"]) for line in sent if line["name"] == "producer_send_success")
    group = ("--group-id", side.fresh("group"), "--verbose", options[1], config)
    seen = objects(side.java(f"{TOOLS}.VerifiableConsumer", *common, *group, classpath=release()))
    assert acknowledged == list(range(RECORDS))
    values = sorted(int(line["value"]) for line in seen if line["name"] == "record_data")
    check_written(RECORDS, side.backend.end_offsets(topic))
    check_read(acknowledged, values)
    assert set(values) == set(acknowledged)


def test_a_name_that_nobody_has(shared: SharedPort, tmp_path: Path) -> None:
    """A Java client's user reads what is wrong, and so does kproxy's; no broker is dialled for it."""
    proxy, before = shared.proxy, shared.proxy.metric("kproxy_upstream_connects_total")
    config = str(trusting(shared.authority, tmp_path))
    asked = ("--bootstrap-server", f"nobody.example.com:{shared.port}", "--command-config", config, "--list")
    command = java_tool("org.apache.kafka.tools.TopicCommand", *asked)
    with running(command, tmp_path) as client:
        client.process.wait(60)
    assert client.process.returncode != 0
    assert "unrecognized_name" in client.output
    ends = proxy.logged(event="connection ended", reason="unknown_server_name")
    assert any("'nobody.example.com'" in line["detail"] for line in ends)
    assert proxy.metric("kproxy_connections_closed_total", reason="unknown_server_name") >= 1
    assert proxy.metric("kproxy_upstream_connects_total") == before


def test_a_client_that_names_nobody(shared: SharedPort) -> None:
    """OpenSSL's client without a name, as a client that connects to an address: it is refused by the same alert."""
    command = ["openssl", "s_client", "-connect", f"{HOST}:{shared.port}", "-noservername"]
    refused = subprocess.run(command, input="", capture_output=True, text=True, timeout=30, check=False)
    assert "unrecognized name" in refused.stderr
    until(lambda: shared.proxy.logged(detail="the client names no server (SNI): it must connect by name"), "a line")


def started(library: Library, shared: SharedPort, topic: str, directory: Path, name: str = "orders") -> LongLived:
    """A producer and a consumer of this library, at a virtual cluster."""
    roles = {kind: Role(kind, shared.bootstrap(name), topic, kind) for kind in ("producer", "consumer")}
    return LongLived(over_tls(library, shared.authority), roles, directory)


def acked(client: LongLived) -> int:
    return len(client.events("producer", "acked"))


def go_on(clients: Sequence[LongLived]) -> None:
    """Wait until each producer has some more records acknowledged, and its consumer has read the last of them."""
    for one in clients:
        goal = acked(one) + 60
        until(partial(_has_acked, one, goal), "records", timeout=60)
        last = {event.value for event in one.events("producer", "acked")[-20:]}
        until(partial(_has_read, one, last), "they are consumed", timeout=60)


def _has_acked(one: LongLived, goal: int) -> bool:
    return acked(one) >= goal


def _has_read(one: LongLived, values: set[str]) -> bool:
    return values <= {event.value for event in one.events("consumer", "consumed")}


def change(pattern: str, own: Certificate, config: dict[str, Any]) -> None:
    """Give the nodes of `orders` other names, and the certificate another file."""
    config["clusters"][0]["nodes"]["pattern"] = pattern
    config["clusters"][0]["tls"] = {"certificate": str(own.chain), "key": str(own.key)}


def test_clients_that_live_long(shared: SharedPort, tmp_path: Path) -> None:
    """Java and librdkafka go on through a rebootstrap, other names and certificates, and a failover there and back."""
    proxy, topics = shared.proxy, [f"sni-{number}" for number in range(2)]
    for backend in shared.backends.values():
        for topic in topics:
            backend.topic(3, 1, name=topic)
    with ExitStack() as stack:
        clients = [
            stack.enter_context(started(library, shared, topic, tmp_path))
            for library, topic in zip((JAVA_4_4, CONFLUENT_KAFKA), topics, strict=True)
        ]
        go_on(clients)
        proxy.rebootstrap("orders")
        go_on(clients)
        renewed = wildcard(shared.authority, "orders", "renewed")
        proxy.reload(partial(change, "node-$(node_id).orders.example.com", renewed))
        ids = shared.backends["orders"].cluster.brokers
        names = {node_id: f"node-{node_id}.orders.example.com:{shared.port}" for node_id in ids}
        until(lambda: shared.nodes("orders") == names, "the new names")
        go_on(clients)
        check_records(clients)  # where all connections end at once, librdkafka may say so by _ALL_BROKERS_DOWN
        until(lambda: not proxy.get_json("/api/v1/clusters/orders")["retired"], "the old names are closed", timeout=20)
        go_on(clients)
        for upstream in ("newest", "kafka"):
            proxy.fail_over("orders", upstream, force=True)  # other tests' clients have used topics that one side lacks
            go_on(clients)
        for one in clients:
            assert one.events("producer", "failed") == []
    assert proxy.get("/readyz?strict")[0] == 200
    assert proxy.metric("kproxy_internal_errors_total") == 0


def moved(port: int, config: dict[str, Any]) -> None:
    """Have `orders` listen at another port."""
    config["clusters"][0]["listen"] = f"{HOST}:{port}"


def connections(proxy: Proxy, name: str) -> set[int]:
    """Return the ids of a virtual cluster's connections."""
    return {one["id"] for one in proxy.get_json(f"/api/v1/connections?cluster={name}&limit=1000")["connections"]}


def test_one_moves_to_another_port(authority: Authority, kafka: Backend, newest_kafka: Backend, tmp_path: Path) -> None:
    """Java's clients of `bills` keep their connections and the port; those of `orders` go on, and learn theirs."""
    port, new = free_port(), free_port()
    backends = {"orders": kafka, "bills": newest_kafka}
    clusters = [
        settings(name, port, wildcard(authority, name), bootstrap_servers=backend.cluster.bootstrap)
        for name, backend in backends.items()
    ]
    proxy = Proxy(tmp_path, {"orders": "", "bills": ""}, clusters=clusters)
    shared = SharedPort(proxy, port, authority, backends)
    with proxy, named_hosts(tmp_path), ExitStack() as stack:
        quick = {"all": {"metadata.max.age.ms": 2_000, "metadata.recovery.strategy": "none"}}
        clients = []
        for name, backend in backends.items():
            library = replace(JAVA_4_4, note=name, settings=quick)
            clients.append(stack.enter_context(started(library, shared, backend.topic(3), tmp_path, name)))
        go_on(clients)
        before = {name: connections(proxy, name) for name in backends}
        asked = proxy.metric("kproxy_requests_total", api="Metadata")
        proxy.reload(partial(moved, new))
        names = {node_id: f"broker-{node_id}.orders.example.com:{new}" for node_id in kafka.cluster.brokers}
        until(lambda: shared.nodes("orders") == names, "the new port")
        assert shared.nodes("bills") == {0: f"broker-0.bills.example.com:{port}"}
        until(lambda: proxy.metric("kproxy_requests_total", api="Metadata") > asked + 12, "metadata for each client")
        go_on(clients)
        assert all(before[name] <= connections(proxy, name) for name in backends)
        assert [one.events(who, "error") for one in clients for who in ("producer", "consumer")] == [[]] * 4
        proxy.stop()
        proxy.start()
        go_on(clients)
        check_records(clients)
