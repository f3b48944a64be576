"""kproxy.upstream.http: requests to real sockets, and everything that a server can do instead of an answer."""

from __future__ import annotations

import ssl
import traceback
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from kproxy.config.url import Url
from kproxy.upstream.http import Answer, HttpClient, HttpError
from tests.unit.telemetry.receivers.certificates import Authority
from tests.unit.telemetry.receivers.collector import Collector, Hangup, Reply, Request

Handler = Callable[[trio.SocketStream], Awaitable[None]]


async def serving(nursery: trio.Nursery, handler: Handler) -> Url:
    """Serve raw sockets; the handler gets the connection."""

    async def serve(stream: trio.SocketStream) -> None:
        async with stream:
            try:
                await handler(stream)
            except trio.BrokenResourceError:
                pass

    [listener] = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
    return Url(False, "127.0.0.1", listener.socket.getsockname()[1], "/v1/metrics")


def saying(data: bytes) -> Handler:
    """A handler that reads something, sends this, closes."""

    async def handler(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        await stream.send_all(data)

    return handler


async def post(url: Url, **settings: Any) -> Answer:
    """One request."""
    client = HttpClient(url, **settings)
    try:
        return await client.post(b"", {})
    finally:
        await client.aclose()


def always(reply: Reply, request: Request) -> Reply:
    """A behaviour: the same reply to every request."""
    del request
    return reply


async def collecting(nursery: trio.Nursery, *, tls: ssl.SSLContext | None = None) -> tuple[Collector, Url]:
    """A collector, and its URL."""
    collector = Collector(tls=tls)
    await nursery.start(collector.run)
    return collector, Url(bool(tls), "localhost" if tls else "127.0.0.1", collector.port, "/v1/metrics?a=b")


@pytest.mark.parametrize(
    "said", [b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", b""]
)
async def test_what_nobody_has_asked_for(nursery: trio.Nursery, said: bytes) -> None:
    """A load balancer that ends an idle connection has not answered the next request, which goes on another one."""
    idle = trio.Event()
    connections = 0

    async def handler(stream: trio.SocketStream) -> None:
        nonlocal connections
        connections += 1
        await stream.receive_some()
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        if connections == 1:
            await stream.send_all(said)
            await stream.send_eof()
            idle.set()
        await stream.receive_some()

    client = HttpClient(await serving(nursery, handler))
    assert (await client.post(b"a", {})).status == 200
    await idle.wait()
    assert (await client.post(b"b", {})).status == 200
    assert connections == 2
    await client.aclose()


async def test_bytes_behind_an_answer(nursery: trio.Nursery) -> None:
    """They are no answer to what is asked next."""
    url = await serving(nursery, saying(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 400 No\r\n\r\n"))
    client = HttpClient(url)
    for _ in range(2):
        assert (await client.post(b"", {})).status == 200
    await client.aclose()


async def test_requests_share_a_connection(nursery: trio.Nursery) -> None:
    """Method, target, headers and body arrive; the connection is kept."""
    collector, url = await collecting(nursery)
    client = HttpClient(url)
    for _ in range(3):
        answer = await client.post(b"", {"Authorization": "Bearer x"})
        assert (answer.status, answer.headers["content-length"]) == (200, "0")
    await client.aclose()
    request = collector.requests[0]
    assert (request.target, request.headers["authorization"]) == ("/v1/metrics?a=b", "Bearer x")
    assert request.headers["host"] == f"127.0.0.1:{collector.port}"
    assert request.headers["user-agent"].startswith("kproxy/")
    assert (len(collector.requests), collector.accepted) == (3, 1)


async def test_a_connection_that_the_server_ends(nursery: trio.Nursery) -> None:
    """Announced or not, the next request has a new connection, and no error."""
    collector, url = await collecting(nursery)
    client = HttpClient(url)
    for reply in (Reply(headers={"Connection": "close"}), Reply(then_close=True), Reply()):
        collector.behaviour = partial(always, reply)
        assert (await client.post(b"", {})).status == 200
    await client.aclose()
    assert (len(collector.requests), collector.accepted) == (3, 3)


async def test_a_connection_that_ends_instead_of_an_answer(nursery: trio.Nursery) -> None:
    """On a new connection that is an error; on an idle one it is an error only after another try on a new one."""
    collector, url = await collecting(nursery)
    client = HttpClient(url)
    await client.post(b"", {})

    def hang_up(_: object) -> Reply:
        raise Hangup

    collector.behaviour = hang_up
    with pytest.raises(HttpError, match=r"http://127.0.0.1:\d+/v1/metrics: it closed the connection; check its log"):
        await client.post(b"", {})
    assert collector.accepted == 2
    with pytest.raises(HttpError, match="it closed the connection"):
        await client.post(b"", {})
    assert collector.accepted == 3
    await client.aclose()


async def test_nobody_listens() -> None:
    """The error says where and what to do."""
    with pytest.raises(HttpError, match=r"127\.0\.0\.1:1/v1/metrics: cannot connect: connection refused; check"):
        await post(Url(False, "127.0.0.1", 1, "/v1/metrics"))


async def test_no_answer(nursery: trio.Nursery) -> None:
    """An error after the timeout."""

    async def silent(stream: trio.SocketStream) -> None:
        while await stream.receive_some():
            pass

    with pytest.raises(HttpError, match=r"no answer within 0.05 s"):
        await post(await serving(nursery, silent), timeout=0.05)


@pytest.mark.parametrize("data", [b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"])
async def test_what_is_not_http(nursery: trio.Nursery, data: bytes) -> None:
    """Another protocol, or an answer that ends too early."""
    with pytest.raises(HttpError, match=r"no HTTP/1.1 answer \(.*\); check scheme and port"):
        await post(await serving(nursery, saying(data)))


async def test_an_answer_before_the_whole_request(nursery: trio.Nursery) -> None:
    """The answer of a server that refuses a large body unread is returned, though sending fails."""

    async def refusing(stream: trio.SocketStream) -> None:
        await stream.send_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await stream.send_eof()
        while await stream.receive_some():
            pass

    client = HttpClient(await serving(nursery, refusing))
    assert (await client.post(bytes(2**20), {})).status == 413
    await client.aclose()


async def test_informational_and_large_answers(nursery: trio.Nursery) -> None:
    """A 100 is skipped; the first 64 KiB of a large body are kept."""
    body = b"x" * 200_000
    data = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    url = await serving(nursery, saying(data))
    answer = await post(url)
    assert (answer.status, answer.body, answer.whole) == (200, body[: 64 * 1024], False)
    assert (await post(url, max_answer=len(body) - 1)).whole is False
    assert await post(url, max_answer=len(body)) == answer._replace(body=body, whole=True)


async def test_a_get(nursery: trio.Nursery) -> None:
    """It has no body, and says so by having no length; `dial` connects in place of the client's own way."""
    seen, dialled = bytearray(), []

    async def handler(stream: trio.SocketStream) -> None:
        seen.extend(await stream.receive_some())
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    url = await serving(nursery, handler)

    async def dial(host: str, port: int) -> trio.abc.Stream:
        dialled.append(host)
        return await trio.open_tcp_stream("127.0.0.1", port)

    client = HttpClient(url._replace(host="elsewhere.example"), dial=dial)
    assert (await client.get({"Accept": "application/json"})).body == b"{}"
    await client.aclose()
    assert seen.startswith(b"GET /v1/metrics HTTP/1.1\r\n")
    assert b"content-length" not in seen.lower()
    assert dialled == ["elsewhere.example"]


async def test_tls(nursery: trio.Nursery, tmp_path: Path) -> None:
    """A server with a trusted certificate answers; the error for an untrusted one says so."""
    authority = await trio.to_thread.run_sync(Authority, tmp_path)
    collector, url = await collecting(nursery, tls=authority.server)
    client = HttpClient(url, tls=authority.client)
    for _ in range(2):
        assert (await client.post(b"", {})).status == 200
    await client.aclose()
    assert collector.accepted == 1
    with pytest.raises(HttpError, match=r"TLS failed .*CERTIFICATE_VERIFY_FAILED.*check the certificate"):
        await post(url)
    with pytest.raises(HttpError, match="TLS failed"):
        await post(url._replace(host="127.0.0.1"), tls=authority.client)


async def test_tls_to_a_plain_port(nursery: trio.Nursery) -> None:
    """The error says that TLS failed."""
    url = await serving(nursery, saying(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
    with pytest.raises(HttpError, match="TLS failed"):
        await post(url._replace(secure=True), tls=ssl.create_default_context)


@pytest.mark.parametrize(
    "headers",
    [{"Authorization": "Bearer pa55\n"}, {"A": "pa55 é"}, {"A b": "pa55"}, {"Content-Length": "pa55"}],
)
async def test_headers_that_cannot_be_sent(nursery: trio.Nursery, headers: dict[str, str]) -> None:
    """A plug-in or a later change may pass any: the error has neither the value nor a cause that shows it."""
    client = HttpClient(await serving(nursery, saying(b"")))
    with pytest.raises(HttpError, match=r"no HTTP/1\.1 request can be made of its URL and headers") as caught:
        await client.post(b"body", headers)
    assert "pa55" not in "".join(traceback.format_exception(caught.value))
    await client.aclose()


async def test_an_ipv6_host(nursery: trio.Nursery) -> None:
    """It is in brackets in the Host header."""
    seen = bytearray()

    async def handler(stream: trio.SocketStream) -> None:
        seen.extend(await stream.receive_some())
        await stream.send_all(b"HTTP/1.1 204 No Content\r\n\r\n")

    async def serve(stream: trio.SocketStream) -> None:
        async with stream:
            await handler(stream)

    [listener] = await nursery.start(partial(trio.serve_tcp, serve, 0, host="::1"))
    port = listener.socket.getsockname()[1]
    assert (await post(Url(False, "::1", port, "/"))).status == 204
    assert f"Host: [::1]:{port}\r\n".encode() in seen


async def test_a_patch(nursery: trio.Nursery) -> None:
    """As a POST, with its own method and the body's length."""
    seen = bytearray()

    async def handler(stream: trio.SocketStream) -> None:
        while not seen.endswith(b"body"):
            seen.extend(await stream.receive_some())
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    client = HttpClient(await serving(nursery, handler))
    assert (await client.patch(b"body", {"Content-Type": "x"})).status == 200
    await client.aclose()
    assert seen.startswith(b"PATCH /v1/metrics HTTP/1.1\r\n")
    assert b"\r\nContent-Length: 4\r\n" in seen


CHUNKED = b"HTTP/1.1 %d OK\r\nTransfer-Encoding: chunked\r\n\r\n"


async def test_an_answer_bit_by_bit(nursery: trio.Nursery) -> None:
    """Each bit is taken when it comes, beyond the timeout; what is taken is not kept."""
    taken: list[bytes] = []

    async def handler(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        await stream.send_all(CHUNKED % 200)
        for number in range(4):
            await stream.send_all(b"1\r\n%d\r\n" % number)
            await trio.sleep(0.1)
            assert len(taken) == number + 1
        await stream.send_all(b"0\r\n\r\n")

    client = HttpClient(await serving(nursery, handler), timeout=0.2)
    answer = await client.stream({}, taken.append, 5)
    await client.aclose()
    assert (answer.status, answer.body, taken) == (200, b"", [b"0", b"1", b"2", b"3"])


async def test_a_refusal_in_place_of_bits(nursery: trio.Nursery) -> None:
    """It is an answer like any other."""
    taken: list[bytes] = []
    client = HttpClient(await serving(nursery, saying(CHUNKED % 403 + b"2\r\nno\r\n0\r\n\r\n")))
    answer = await client.stream({}, taken.append, 5)
    await client.aclose()
    assert (answer.status, answer.body, taken) == (403, b"no", [])


async def test_bits_without_end(nursery: trio.Nursery) -> None:
    """The answer has so many seconds more than others; then, or when one is refused, the connection is closed."""

    async def handler(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        await stream.send_all(CHUNKED % 200 + b"1\r\nx\r\n")
        await stream.receive_some()

    url = await serving(nursery, handler)
    client = HttpClient(url, timeout=0.1)
    with pytest.raises(HttpError, match=r"no answer within 0.2 s"):
        await client.stream({}, lambda _: None, 0.1)

    def refuse(_: bytes) -> None:
        raise ValueError("not that")

    with pytest.raises(ValueError, match="not that"):
        await client.stream({}, refuse, 5)
