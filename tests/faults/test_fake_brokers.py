"""Brokers that answer wrongly or incompletely, beside a real cluster in the same kproxy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import fake_broker
from tests.support.backend import Backend
from tests.support.bounds import Bounds
from tests.support.fake_broker import Behaviour, FakeBroker
from tests.support.footprint import nothing_kept
from tests.support.healthy import Healthy
from tests.support.proxy import Proxy
from tests.support.raw import RawClient, metadata
from tests.support.wait import until

FLOOD = 50
BEHAVIOURS = {
    fake_broker.garbage: "correlation_mismatch",
    fake_broker.negative_size: "invalid_frame_size",
    fake_broker.dies_in_mid_frame: "truncated_response",
    fake_broker.stalls_in_mid_frame: "stalled_frame",
    fake_broker.wrong_correlation_id: "correlation_mismatch",
    fake_broker.too_large: "frame_too_large",
    fake_broker.not_the_message: "malformed_response",
}


@pytest.mark.parametrize(("behaviour", "reason"), BEHAVIOURS.items(), ids=lambda case: getattr(case, "__name__", case))
def test_bad_brokers(kafka: Backend, tmp_path: Path, behaviour: Behaviour, reason: str, bounds: Bounds) -> None:
    """The fake cluster's clients are closed, counted and logged with the reason; the real cluster's notice nothing."""
    with FakeBroker(behaviour) as broker, beside(kafka, tmp_path, broker.address) as proxy:
        with Healthy(proxy.port("real")) as healthy:
            with nothing_kept(proxy):
                clients = [RawClient(proxy.port("fake")) for _ in range(FLOOD)]
                for client in clients:
                    client.send(metadata(1))
                for client in clients:
                    client.wait_closed(10)
                    client.close()
            until(lambda: closed(proxy, reason) >= FLOOD, f"{FLOOD} x {reason}")
        assert proxy.metric("kproxy_protocol_errors_total", cluster="fake", reason=reason) >= FLOOD
        assert proxy.metric("kproxy_protocol_errors_total", cluster="real") == 0
        bounds.below(healthy.slowest, 1.0, "seconds of a healthy client")
        check_degraded(proxy)
    assert proxy.told(reason) == FLOOD


def test_broker_that_refuses(kafka: Backend, tmp_path: Path) -> None:
    """Nothing listens at the broker's address: the client is closed at once, and the reason names the address."""
    with FakeBroker(fake_broker.garbage) as broker:
        address = broker.address
    with beside(kafka, tmp_path, address) as proxy, Healthy(proxy.port("real")):
        with RawClient(proxy.port("fake")) as client:
            client.send(metadata(1))
            assert client.wait_closed(5) == b""
        line = until(lambda: proxy.logged(cluster="fake", reason="connect_failed"), "the log line")[0]
        assert address in line["detail"]
        check_degraded(proxy)


def beside(kafka: Backend, directory: Path, fake: str) -> Proxy:
    """Return a kproxy with a real and a fake cluster."""
    servers = {"real": kafka.cluster.bootstrap, "fake": fake}
    timeouts = {"stalled_frame": "1s", "connect": "2s", "upstream_request": "2s"}
    limits = {"max_response_bytes": "10MiB"}
    return Proxy(directory, servers, timeouts=timeouts, limits=limits, topology={"interval": "1s"})


def closed(proxy: Proxy, reason: str) -> float:
    """Return how many connections of the fake cluster ended for the reason."""
    return proxy.metric("kproxy_connections_closed_total", cluster="fake", reason=reason)


def check_degraded(proxy: Proxy) -> None:
    """Check that the process stays ready and is degraded because of the fake cluster, not of the real one."""
    readiness = until(lambda: (shown := proxy.get_json("/readyz"))["state"] == "degraded" and shown, "degraded")
    assert {reason["cluster"] for reason in readiness["reasons"]} == {"fake"}
