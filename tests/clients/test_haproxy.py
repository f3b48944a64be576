"""HAProxy in front of kproxy, with a real client: what it sends is understood, and its health checks are no faults."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka import Producer

from kproxy.local_kafka.ports import free_ports
from tests.bench.process import accepts, running, wait_serving
from tests.bench.targets import haproxy_binary
from tests.clients.test_proxy_protocol import addresses, behind, connected, proxy_port, secured
from tests.support import tools
from tests.support.backend import Backend
from tests.support.proxy import HOST, Proxy
from tests.support.wait import until

BALANCER: Final = "127.0.0.2"
_CONFIG: Final = """\
defaults
    mode tcp
    timeout connect 10s
    timeout client 1m
    timeout server 1m
"""
# `send-proxy` stands for both: the connections of clients, and, with `check-send-proxy`, those of health checks.
_LISTENER: Final = """\
listen at_{near}
    bind {host}:{near}
    server kproxy {host}:{far} source {balancer} {sends} check check-send-proxy inter 200ms
"""


@pytest.fixture(autouse=True, scope="module")
def _haproxy() -> None:
    tools.ensure("haproxy")


@contextmanager
def haproxy(directory: Path, ports: dict[int, int], sends: str) -> Iterator[None]:
    """Pass connections on, from 127.0.0.2, from ports to ports."""
    config, log = directory / "haproxy.cfg", directory / "haproxy.log"
    listeners = (
        _LISTENER.format(host=HOST, near=near, far=far, balancer=BALANCER, sends=sends) for near, far in ports.items()
    )
    config.write_text(_CONFIG + "".join(listeners))
    with running([str(haproxy_binary()), "-db", "-f", str(config)], log) as process:
        wait_serving(process, lambda: all(accepts((HOST, near)) for near in ports), "haproxy", log)
        yield


@pytest.mark.parametrize("tls", [False, True], ids=["plaintext", "tls"])
@pytest.mark.parametrize("sends", ["send-proxy", "send-proxy-v2", "send-proxy-v2 proxy-v2-options crc32c,unique-id"])
def test_a_client_behind_haproxy(newest_kafka: Backend, tmp_path: Path, sends: str, tls: bool) -> None:
    """It produces, and is seen at its own address; the balancer's checks connect and leave without a fault."""
    advertised, topic = free_ports(4), newest_kafka.topic()
    each, security = secured(tmp_path) if tls else ({}, {})
    with behind(tmp_path, newest_kafka, advertised, [BALANCER], **each) as proxy:
        with haproxy(tmp_path, {advertised[0]: proxy.port(), advertised[1]: proxy_port(proxy)}, sends):
            producer = Producer({"bootstrap.servers": f"{HOST}:{advertised[0]}", **security})
            producer.produce(topic, b"behind")
            assert producer.flush(30) == 0
            assert {address.partition(":")[0] for address in addresses(proxy)} == {HOST}
            events = until(lambda: connected(tmp_path), "its events", timeout=20)
            assert {event["address"] for event in events} == {HOST}
            until(lambda: checks(proxy) > 2, "health checks", timeout=20)
            producer.close()
        assert proxy.metric("kproxy_protocol_errors_total") == 0
    assert newest_kafka.values(topic) == ["behind"]


def checks(proxy: Proxy) -> int:
    """How many connections of the balancer's own have ended; all as clients that left.

    HAProxy resets them so soon that mostly not even their address can be read.
    """
    ended = [line for line in proxy.logged(event="connection ended") if not line["client"].startswith(f"{HOST}:")]
    assert {line["reason"] for line in ended} <= {"client_closed"}
    return len(ended)
