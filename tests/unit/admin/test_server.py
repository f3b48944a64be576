"""The admin port as an HTTP/1.1 server, seen by well-behaved clients."""

from __future__ import annotations

import http.client
import socket
from functools import partial

import pytest
import trio

from kproxy.admin.server import serve_admin
from kproxy.errors import ConfigError
from kproxy.local_kafka.ports import free_port
from tests.unit.admin.memory_view import MemoryView
from tests.unit.admin.raw import exchange, fetch, replies


async def test_a_client_of_the_standard_library_keeps_its_connection(port: int) -> None:
    """http.client sends GET, HEAD and POST, and gets all answers over one socket."""

    def use() -> list[tuple[int, bytes]]:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        client.connect()
        socket_before = client.sock
        answers = []
        for method, path in (("GET", "/livez"), ("HEAD", "/metrics"), ("POST", "/livez"), ("GET", "/nowhere")):
            client.request(method, path, body=b"ignored" if method == "POST" else None)
            response = client.getresponse()
            answers.append((response.status, response.read()))
            assert client.sock is socket_before
        client.close()
        return answers

    answers = await trio.to_thread.run_sync(use)
    assert [status for status, _ in answers] == [200, 200, 405, 404]
    assert [bool(body) for _, body in answers] == [True, False, True, True]


async def test_head_says_what_get_would(port: int) -> None:
    """The same status and headers, no body."""
    get, head = await fetch(port, "/livez"), await fetch(port, "/livez", method="HEAD")
    assert (head.status, head.headers, head.body) == (get.status, get.headers, b"")


async def test_the_wrong_method(port: int) -> None:
    """405 with Allow."""
    reply = await fetch(port, "/metrics", method="DELETE")
    assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD")


async def test_pipelined_requests_are_answered_in_order(port: int) -> None:
    """Four requests in one packet, the last of which ends the connection."""
    paths = ("/livez", "/readyz", "/nowhere")
    sent = b"".join(b"GET %b HTTP/1.1\r\nHost: x\r\n\r\n" % path.encode() for path in paths)
    received = await exchange(port, sent + b"GET /api/v1/clusters HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    found = replies(received, "GET", "GET", "GET", "GET")
    assert [reply.status for reply in found] == [200, 200, 404, 200]
    assert found[0].json() == {"state": "alive"}
    assert "clusters" in found[3].json()


async def test_a_request_byte_by_byte(port: int) -> None:
    """How bytes are cut does not matter, body included."""
    sent = b"POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc"
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    received = b""
    async with stream:
        for byte in sent:
            await stream.send_all(bytes([byte]))
        with trio.fail_after(40):
            async for data in stream:
                received += data
    assert replies(received)[0].status == 405


async def test_http_1_0(port: int) -> None:
    """An old client gets its answer and the end of the connection."""
    received = await exchange(port, b"GET /livez HTTP/1.0\r\n\r\n")
    assert received.startswith(b"HTTP/1.1 200 OK\r\n")
    assert received.endswith(b'{"state":"alive"}\n')


async def test_a_client_that_closes_its_side_first(port: int) -> None:
    """As `nc -N` does: the answer still comes."""
    received = await exchange(port, b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", close_our_side=True)
    assert replies(received)[0].status == 200


async def test_a_chunked_body_is_read_to_its_end(port: int) -> None:
    """The request after it is understood."""
    first = b"POST /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    received = await exchange(port, first + b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert [reply.status for reply in replies(received, "POST", "GET")] == [405, 200]


async def test_a_client_that_waits_before_its_body(port: int) -> None:
    """Expect: 100-continue gets a 100, then its answer."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    async with stream:
        head = (
            b"POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
        )
        await stream.send_all(head)
        with trio.fail_after(40):
            assert (await stream.receive_some()).startswith(b"HTTP/1.1 100 ")
            await stream.send_all(b"{}")
            received = b"".join([data async for data in stream])
    assert replies(received)[0].status == 405


async def test_a_fault_in_a_handler(view: MemoryView, port: int) -> None:
    """500 without the traceback, and the next request on the same connection is served."""
    view.fault = RuntimeError("secret detail")
    sent = b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    received = await exchange(port, sent)
    assert [reply.status for reply in replies(received, "GET", "GET")] == [500, 200]
    assert b"secret" not in received


async def test_an_address_in_use(view: MemoryView, port: int) -> None:
    """One line that says which address and why, as for any setting that cannot be used."""
    with pytest.raises(ConfigError, match=rf"^admin: cannot listen on 127\.0\.0\.1:{port}: .*in use"):
        await serve_admin(view, "127.0.0.1", port)


async def test_a_host_that_does_not_exist(view: MemoryView) -> None:
    """A name without an address is reported in the same way."""
    with pytest.raises(ConfigError, match=r"^admin: cannot listen on no-such-host\.invalid:0: "):
        await serve_admin(view, "no-such-host.invalid", 0)


@pytest.mark.parametrize("host", ["::", "localhost", "0.0.0.0"])
async def test_a_free_port_is_reported(view: MemoryView, nursery: trio.Nursery, host: str) -> None:
    """Port 0 gives one port, also where a name stands for several addresses."""
    bound_host, port = await nursery.start(partial(serve_admin, view, host, 0))
    stream = await trio.open_tcp_stream("localhost", port)
    async with stream:
        await stream.send_all(b"GET /livez HTTP/1.0\r\n\r\n")
        with trio.fail_after(40):
            assert b" 200 " in await stream.receive_some()
    assert bound_host


async def test_every_address_of_ipv6_is_every_address(view: MemoryView, nursery: trio.Nursery) -> None:
    """As for clients' ports: Kubernetes probes a pod at its first address, which may be of IPv4."""
    port = free_port()
    await nursery.start(serve_admin, view, "::", port)
    for host in ("127.0.0.1", "::1"):
        stream = await trio.open_tcp_stream(host, port)
        await stream.send_all(b"GET /livez HTTP/1.0\r\n\r\n")
        assert (await stream.receive_some()).startswith(b"HTTP/1.1 200 ")
        await stream.aclose()


async def test_cancellation_leaves_nothing_open(view: MemoryView) -> None:
    """Listener and connections, idle or in a request, are closed when the server is cancelled."""
    async with trio.open_nursery() as nursery:
        _, port = await nursery.start(partial(serve_admin, view, "127.0.0.1", 0))
        idle = await trio.open_tcp_stream("127.0.0.1", port)
        half = await trio.open_tcp_stream("127.0.0.1", port)
        await half.send_all(b"GET / HT")
        await fetch(port, "/livez")
        nursery.cancel_scope.cancel()
    with trio.fail_after(40):
        for stream in (idle, half):
            async with stream:
                try:
                    assert await stream.receive_some() == b""
                except trio.BrokenResourceError:  # closed with bytes unread: a reset
                    pass
    with pytest.raises(OSError, match="connect"):
        await trio.open_tcp_stream("127.0.0.1", port)
