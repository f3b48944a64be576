"""kproxy.telemetry.receivers.http: POSTs to real sockets, and everything that a server can do instead of an answer."""

from __future__ import annotations

import ssl
import traceback
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from kproxy.telemetry.receivers.http import Answer, HttpClient, HttpError, Url, parse_url
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
    answer = await post(await serving(nursery, saying(data)))
    assert (answer.status, answer.body) == (200, body[: 64 * 1024])


async def test_tls(nursery: trio.Nursery, tmp_path: Path) -> None:
    """A server with a trusted certificate answers; the error for an untrusted one says so."""
    authority = await trio.to_thread.run_sync(Authority, tmp_path)
    collector, url = await collecting(nursery, tls=authority.server)
    client = HttpClient(url, tls=authority.client())
    for _ in range(2):
        assert (await client.post(b"", {})).status == 200
    await client.aclose()
    assert collector.accepted == 1
    with pytest.raises(HttpError, match=r"TLS failed .*CERTIFICATE_VERIFY_FAILED.*check the certificate"):
        await post(url)
    with pytest.raises(HttpError, match="TLS failed"):
        await post(url._replace(host="127.0.0.1"), tls=authority.client())


async def test_tls_to_a_plain_port(nursery: trio.Nursery) -> None:
    """The error says that TLS failed."""
    url = await serving(nursery, saying(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
    with pytest.raises(HttpError, match="TLS failed"):
        await post(url._replace(secure=True), tls=ssl.create_default_context())


@pytest.mark.parametrize(
    ("text", "url", "where"),
    [
        ("http://a", Url(False, "a", 80, "/"), "http://a:80/"),
        ("https://a/v1?k=s", Url(True, "a", 443, "/v1?k=s"), "https://a:443/v1"),
        ("http://[::1]:4318/x", Url(False, "::1", 4318, "/x"), "http://[::1]:4318/x"),
    ],
)
def test_urls(text: str, url: Url, where: str) -> None:
    """Scheme, host, port and target; logs leave out the query, which may be secret."""
    assert parse_url(text) == url
    assert url.where == where


NO_URLS = (
    "",
    "a:4318",
    "ftp://a?k=pa55",
    "http://",
    "http://u:pa55@a/",
    "http://a/#pa55",
    "http://a:x/?pa55",
    "http://a/ b?k=pa55",
    "http://a/é?k=pa55",
)


@pytest.mark.parametrize("text", NO_URLS)
def test_no_urls(text: str) -> None:
    """The error says what to write, and shows the URL without what may be secret."""
    with pytest.raises(ValueError, match=r"is no endpoint; write http://host:4318/v1/metrics") as caught:
        parse_url(text)
    assert "pa55" not in str(caught.value)


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
