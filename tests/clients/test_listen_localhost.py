"""`listen: localhost`, as people write it for a sidecar: clients come at 127.0.0.1 and at ::1, to real brokers."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from pathlib import Path

from kproxy.config.address import join_host_port
from tests.clients.test_python_clients import COUNT, WHOLE, check_acks
from tests.support.backend import Backend
from tests.support.client import PYTHON_CLIENTS, script
from tests.support.hosts_file import with_hosts
from tests.support.proxy import HOST, KPROXY, Proxy
from tests.support.side import Side


def test_clients_of_both_families(kafka: Backend, tmp_path: Path) -> None:
    """At either address they bootstrap and reach each node, whichever the resolver names first; so does the admin."""
    proxy = Proxy(tmp_path, {"kafka": kafka.cluster.bootstrap}, program=(*with_hosts(tmp_path), KPROXY))
    proxy.config.write_text(proxy.config.read_text().replace(f"listen: {HOST}:", "listen: localhost:"))
    with proxy:
        for client, host in zip(PYTHON_CLIENTS, ("::1", HOST, "::1"), strict=True):
            check_client(Side(proxy, "kafka", kafka, tmp_path), client, host)
            check_admin(host, proxy.admin_port)
    port = proxy.port()
    events = map(json.loads, proxy.log.read_text().splitlines())
    (line,) = (each for each in events if each["event"] == "listening")
    assert line["address"] == f"localhost:{port}"
    assert sorted(line["bound"]) == [f"{HOST}:{port}", f"[::1]:{port}"]


def check_client(side: Side, client: str, host: str) -> None:
    """Check that a client which bootstraps at a host is led to nodes at this host, and that its records are whole."""
    names = {"topic": side.fresh(client), "group": side.fresh("group"), "replicas": side.replicas}
    bootstrap = join_host_port(host, side.proxy.port())
    with side.running(script(client, "everything", bootstrap=bootstrap, count=COUNT, **names)) as running:
        result = running.result()
    check_acks(result["acks"])
    assert result["acks"] == dict.fromkeys(("0", "1", "all", "idempotent"), WHOLE)
    ports = side.proxy.node_ports()
    assert {tuple(node) for node in result["nodes"]} == {(node_id, host, ports[node_id]) for node_id in ports}


def check_admin(host: str, port: int) -> None:
    """Check that the admin port answers at a host."""
    connection = HTTPConnection(host, port, timeout=20)
    connection.request("GET", "/readyz")
    assert connection.getresponse().status == 200
    connection.close()
