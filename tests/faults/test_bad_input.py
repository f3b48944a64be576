"""Bytes that are no Kafka request, sent to a live kproxy in front of a real Kafka."""

from __future__ import annotations

import http.client
import random
import ssl
import struct

import pytest

from tests.support.footprint import nothing_kept
from tests.support.healthy import Healthy
from tests.support.proxy import Proxy
from tests.support.raw import API_VERSIONS, HOST, METADATA, RawClient, api_versions, frame, metadata, request
from tests.support.wait import until

FLOOD = 200
AT_ONCE = 40
_noise = random.Random(20261121)

# What is sent -> the reason in the log line and in kproxy_protocol_errors_total.
BAD_BYTES = {
    "negative size": (struct.pack(">i", -1) + bytes(100), "invalid_frame_size"),
    "size zero": (struct.pack(">i", 0) + bytes(100), "invalid_frame_size"),
    "size below a header": (struct.pack(">i", 7) + bytes(100), "invalid_frame_size"),
    "size over the limit": (struct.pack(">ihhi", 2**31 - 1, METADATA, 1, 1) + bytes(100), "frame_too_large"),
    "random bytes": (b"\xff" + _noise.randbytes(4095), "invalid_frame_size"),
    "random bytes in a frame": (frame(b"\x7f" + _noise.randbytes(4095)), "unknown_api"),
    "unknown api key": (request(9999, 0, 1), "unknown_api"),
    "version above the maximum": (request(METADATA, 99, 1), "unsupported_version"),
    "negative version": (request(METADATA, -1, 1), "unsupported_version"),
    "client id beyond the frame": (
        frame(struct.pack(">hhih", API_VERSIONS, 1, 1, 30_000) + bytes(8)),
        "malformed_request",
    ),
}


@pytest.mark.parametrize(("sent", "reason"), BAD_BYTES.values(), ids=BAD_BYTES)
def test_bad_bytes(proxy: Proxy, healthy: Healthy, sent: bytes, reason: str) -> None:
    """Sent first or after a good request: closed, counted and logged with its reason; nothing is kept of a flood."""
    with RawClient(proxy.port()) as warm_up:
        warm_up.ask(api_versions(1))
    with nothing_kept(proxy):
        for _ in range(FLOOD // AT_ONCE):
            flood(proxy, sent)
    check_counted(proxy, reason, FLOOD)


def flood(proxy: Proxy, sent: bytes) -> None:
    """Send the bytes on many connections; half of these clients send a good request first."""
    clients = [RawClient(proxy.port()) for _ in range(AT_ONCE)]
    for number, client in enumerate(clients):
        if number % 2:
            client.ask(api_versions(1))
        client.send(sent)
    for client in clients:
        client.wait_closed(5)
        client.close()


def test_tls_hello(proxy: Proxy, healthy: Healthy) -> None:
    """A TLS client is closed at once, and the log says what to set."""
    context = ssl.create_default_context()
    for _ in range(FLOOD):
        with RawClient(proxy.port()) as client, pytest.raises((ssl.SSLError, ConnectionError)):
            context.wrap_socket(client.socket, server_hostname="kafka.example.com")
    check_counted(proxy, "tls_on_plaintext", FLOOD)


def test_http_request(proxy: Proxy, healthy: Healthy) -> None:
    """An HTTP client is closed at once, too."""
    for _ in range(FLOOD):
        client = http.client.HTTPConnection(HOST, proxy.port(), timeout=5)
        client.request("GET", "/metrics")
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            client.getresponse()
        client.close()
    check_counted(proxy, "http_on_kafka_port", FLOOD)


def test_half_a_frame_then_silence(proxy: Proxy, healthy: Healthy) -> None:
    """Half of a request and nothing more: closed after timeouts.stalled_frame (1 s here), however many there are."""
    with nothing_kept(proxy):
        clients = [RawClient(proxy.port()) for _ in range(FLOOD)]
        for number, client in enumerate(clients):
            client.send(metadata(number)[: 5 + number % 12])
        for client in clients:
            client.wait_closed(5)
            client.close()
    check_counted(proxy, "stalled_frame", FLOOD)


def test_half_a_frame_then_gone(proxy: Proxy, healthy: Healthy) -> None:
    """Half of a request and FIN: the broker is not left waiting for the rest."""
    with nothing_kept(proxy):
        for _ in range(FLOOD):
            with RawClient(proxy.port()) as client:
                client.ask(api_versions(1))
                client.send(metadata(2)[:9])
    check_counted(proxy, "truncated_request", FLOOD)


def test_silence(proxy: Proxy, healthy: Healthy) -> None:
    """A client that sends nothing is closed after timeouts.first_request (2 s here); no broker is dialled for it."""
    dialled = proxy.metric("kproxy_upstream_connects_total")
    clients = [RawClient(proxy.port()) for _ in range(FLOOD)]
    for client in clients:
        assert client.wait_closed(5) == b""
        client.close()
    check_counted(proxy, "idle_timeout", FLOOD, protocol_error=False)
    assert proxy.metric("kproxy_upstream_connects_total") - dialled < FLOOD / 10


def test_correlation_id_in_use(proxy: Proxy, healthy: Healthy) -> None:
    """The broker answers in order, also where an id is in flight twice: kafka-php sends the API key as the id."""
    with RawClient(proxy.port()) as client:
        versions, brokers = (len(client.ask(ask(7))) for ask in (api_versions, metadata))
        client.send(metadata(7), api_versions(7), metadata(7), metadata(7))
        received = [client.receive() for _ in range(4)]
        assert [number for number, _ in received] == [7] * 4
        assert [len(answer) for _, answer in received] == [brokers, versions, brokers, brokers]


def test_correlation_id_used_again(proxy: Proxy, healthy: Healthy) -> None:
    """An id is free once its response has come: clients that always send the same one are served."""
    with RawClient(proxy.port()) as client:
        for ask in (metadata, api_versions, metadata):
            assert client.ask(ask(7))


def test_request_that_only_the_broker_reads(proxy: Proxy, healthy: Healthy) -> None:
    """The broker closes on a request that kproxy passes unread, and the log says that the broker did."""
    for _ in range(FLOOD):
        with RawClient(proxy.port()) as client:
            client.send(request(METADATA, 1, 1, b"\x7f" * 20))
            client.wait_closed(5)
    check_counted(proxy, "broker_closed", FLOOD, protocol_error=False)


def test_api_versions_above_the_maximum(proxy: Proxy, healthy: Healthy) -> None:
    """Answered as Kafka does: error 35 and the supported range in a version 0 body; the connection goes on."""
    with RawClient(proxy.port()) as client:
        answer = client.ask(api_versions(1, version=99))
        error, count, api_key, _, highest = struct.unpack_from(">hihhh", answer)
        assert (error, api_key) == (35, 18)
        assert count >= 1
        assert highest >= 4
        assert struct.unpack_from(">h", client.ask(api_versions(2)))[0] == 0


def check_counted(proxy: Proxy, reason: str, count: int, *, protocol_error: bool = True) -> None:
    """Check that each was counted once by its reason; the first has a line with the client's address, others a sum.

    The last sum comes up to ten seconds later: no test waits for it here.
    """
    until(lambda: proxy.metric("kproxy_connections_closed_total", reason=reason) >= count, f"{count} x {reason}")
    if protocol_error:
        assert proxy.metric("kproxy_protocol_errors_total", reason=reason) == count
    lines = until(lambda: proxy.logged(event="connection ended", reason=reason), f"{reason} in the log")
    assert proxy.told(reason) <= count
    assert all(line["client"].startswith(HOST) and line["level"] for line in lines)
    assert all(line["clients"] == {HOST: line["lines"]} for line in proxy.logged(event="lines left out"))
