"""Pushes that no well-behaved client sends, to a live kproxy: some are cut off, some answered, and nothing is kept."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import cramjam
import pytest

from tests.faults.test_bad_input import check_counted
from tests.support.backend import Backend
from tests.support.footprint import nothing_kept
from tests.support.healthy import Healthy
from tests.support.proxy import Proxy
from tests.support.raw import RawClient, api_versions, frame, string

GET, PUSH = 71, 72
NO_TAGS = b"\0"
ZSTD = 4
TELEMETRY_TOO_LARGE = 118
MIB = 1 << 20
LIMIT = 4 * MIB + (64 << 10)
"""Bytes up to which a push is read in order to be answered: four times the largest push, and the fields around it."""
HUGE = 100_000_000
CLIENTS = 20


@pytest.fixture
def proxy(kafka: Backend, tmp_path: Path) -> Iterator[Proxy]:
    """Yield a kproxy that serves telemetry."""
    telemetry = {"interval": "100ms", "subscriptions": [{"name": "all", "metrics": "*"}]}
    receivers = [{"name": "page", "type": "prometheus"}]
    servers = {"kafka": kafka.cluster.bootstrap}
    with Proxy(tmp_path, servers, each={"telemetry": telemetry}, receivers=receivers) as proxy:
        yield proxy


def uvarint(value: int) -> bytes:
    """Encode a number, seven bits a byte, the lowest first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def flexible(api_key: int, correlation_id: int, body: bytes) -> bytes:
    """Return a request of version 0 with header version 2."""
    return frame(struct.pack(">hhi", api_key, 0, correlation_id) + string("raw") + NO_TAGS + body + NO_TAGS)


def pushing(subscribed: bytes, metrics: bytes) -> bytes:
    """Return a push, compressed with zstd, for what GetTelemetrySubscriptions answered."""
    instance_and_subscription = subscribed[7:27]  # after tags, throttle time and error
    head = instance_and_subscription + struct.pack(">?b", False, ZSTD)
    return flexible(PUSH, 3, head + uvarint(len(metrics) + 1) + metrics)


def subscribe(client: RawClient) -> bytes:
    """Send ApiVersions, then ask for the subscription, as every client begins; return the answer."""
    client.ask(api_versions(1))
    return client.ask(flexible(GET, 2, bytes(16)))


def error(answer: bytes) -> int:
    """Return the error code with which PushTelemetry was answered."""
    code: int = struct.unpack_from(">xih", answer)[1]
    return code


def test_a_push_of_100_megabytes(proxy: Proxy, healthy: Healthy) -> None:
    """Cut off when its size is known: logged with the limit, counted, its connection closed, and nothing of it kept."""
    with RawClient(proxy.port()) as warm_up:
        subscribe(warm_up)
    head = struct.pack(">ihhi", HUGE, PUSH, 0, 3) + string("raw") + NO_TAGS
    with nothing_kept(proxy):
        for _ in range(CLIENTS):
            with RawClient(proxy.port()) as client:
                subscribe(client)
                client.send(head)
                with suppress(ConnectionError):  # what is sent while the connection closes is read, and thrown away
                    client.send(bytes(HUGE - len(head)))
                assert client.wait_closed() == b""
    check_counted(proxy, "frame_too_large", CLIENTS)
    assert f"a request of {HUGE} bytes must be held, the limit is {LIMIT}" in str(
        proxy.logged(reason="frame_too_large")
    )
    assert proxy.metric("kproxy_telemetry_requests_total", api="PushTelemetry") == 0


@pytest.mark.parametrize(
    "metrics",
    [bytes(3 * MIB), bytes(cramjam.zstd.compress(bytes(200_000_000)))],
    ids=["3 MiB as it comes", "200 MB when decompressed"],
)
def test_a_push_beyond_the_limit_is_answered(proxy: Proxy, healthy: Healthy, metrics: bytes) -> None:
    """Error 118 makes a client push less the next time; its connection goes on, and nothing is kept."""
    with RawClient(proxy.port()) as warm_up:
        assert error(warm_up.ask(pushing(subscribe(warm_up), metrics))) == TELEMETRY_TOO_LARGE
    with nothing_kept(proxy):
        for _ in range(CLIENTS):
            with RawClient(proxy.port()) as client:
                assert error(client.ask(pushing(subscribe(client), metrics))) == TELEMETRY_TOO_LARGE
                assert client.ask(api_versions(4))
    assert proxy.metric("kproxy_telemetry_requests_total", error="TELEMETRY_TOO_LARGE") == CLIENTS + 1
