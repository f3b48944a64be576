"""A load balancer that speaks the PROXY protocol, between real clients and kproxy: addresses are the clients' own."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from kproxy.local_kafka.ports import free_ports
from tests.support import raw
from tests.support.authority import Authority
from tests.support.backend import Backend
from tests.support.balancer import HOST, Balancer, binary_header, text_header
from tests.support.proxy import Proxy
from tests.support.wait import until

OWN = "192.0.2.7"
SOURCE = f"{OWN}:4711"


def behind(directory: Path, backend: Backend, advertised: Sequence[int], networks: list[str], **each: Any) -> Proxy:
    """A kproxy whose nodes are advertised at a balancer's ports; `each` are settings of its virtual cluster."""
    nodes = {"first_port": free_ports(4)[0], "advertised_first_port": advertised[1]}
    own = {"nodes": nodes, "proxy_protocol": {"networks": networks}, **each}
    destination = {"name": "lake", "type": "files", "directory": str(directory / "events"), "file_age": "1s"}
    return Proxy(directory, {"kafka": backend.cluster.bootstrap}, each=own, events={"destinations": [destination]})


def addresses(proxy: Proxy) -> set[str]:
    """The clients' addresses of all connections that there are."""
    shown = proxy.get_json("/api/v1/connections")["connections"]
    return {connection["client"] for connection in shown}


def connected(directory: Path) -> list[dict[str, Any]]:
    """The events of clients that came."""
    files = (directory / "events").glob("*.gz")
    lines = [line for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]
    return [event for event in map(json.loads, lines) if event["event"] == "client_connected"]


def secured(directory: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """TLS to clients: the virtual cluster's settings, and a client's."""
    authority = Authority(directory)
    own = authority.signed("kproxy")
    tls = {"tls": {"certificate": str(own.chain), "key": str(own.key)}}
    return tls, {"security.protocol": "SSL", "ssl.ca.location": str(authority.file)}


@pytest.mark.parametrize(("header", "tls"), [(text_header, False), (binary_header, False), (binary_header, True)])
def test_a_client_behind_a_balancer(
    newest_kafka: Backend, tmp_path: Path, header: Callable[[str], bytes], tls: bool
) -> None:
    """It produces through both; the API, the log and the event stream have its own address, not the balancer's."""
    advertised = free_ports(4)
    each, security = secured(tmp_path) if tls else ({}, {})
    proxy = behind(tmp_path, newest_kafka, advertised, [f"{HOST}/32"], **each)
    topic = newest_kafka.topic()
    with proxy:
        assert list(proxy.node_ports().values()) == [advertised[1]]
        with Balancer({advertised[0]: proxy.port(), advertised[1]: proxy_port(proxy)}, header(SOURCE)):
            producer = Producer({"bootstrap.servers": f"{HOST}:{advertised[0]}", "client.id": "behind", **security})
            for number in range(20):
                producer.produce(topic, f"{number}".encode())
            assert producer.flush(30) == 0
            assert addresses(proxy) == {SOURCE}
            events = until(lambda: connected(tmp_path), "its events", timeout=20)
            assert {(event["address"], event["port"]) for event in events} == {(OWN, 4711)}
            producer.close()
        until(lambda: proxy.logged(event="connection ended", client=SOURCE), "its end in the log", timeout=20)
    assert sorted(newest_kafka.values(topic), key=int) == [f"{number}" for number in range(20)]


def proxy_port(proxy: Proxy) -> int:
    """The port at which kproxy listens for the only node."""
    (line,) = until(lambda: proxy.logged(event="node has a port"), "its line in the log")
    return int(line["port"])


@pytest.mark.parametrize(
    ("networks", "first", "reason"),
    [
        ([f"{HOST}/32"], raw.api_versions(1), "proxy_header"),
        (["10.0.0.0/8"], text_header(SOURCE), "unexpected_proxy_header"),
    ],
)
def test_without_the_balancer(
    newest_kafka: Backend, tmp_path: Path, networks: list[str], first: bytes, reason: str
) -> None:
    """Who comes from its network without a header, or from elsewhere with one, is refused with a reason."""
    with behind(tmp_path, newest_kafka, free_ports(4), networks) as proxy:
        with socket.create_connection((HOST, proxy.port()), 10) as client, suppress(ConnectionResetError):
            client.sendall(first)
            assert client.recv(100) == b""
        (line,) = until(lambda: proxy.logged(event="connection ended"), "the log", timeout=10)
        assert (line["reason"], line["client"].startswith(f"{HOST}:")) == (reason, True)
        assert proxy.told(reason) == 1
