"""The admin port with TLS: handshakes that end and that do not, and what clients in plaintext are told."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pytest
import trio

from kproxy.admin import commanders
from kproxy.admin.commanders import Commanders
from kproxy.admin.limits import Limits
from kproxy.admin.security import AdminSecurity, read_admin_security
from kproxy.admin.server import serve_admin
from kproxy.cli.admin_tls import raise_alert
from kproxy.config.process import Admin
from tests.support.authority import Authority, Certificate
from tests.support.bounds import Bounds
from tests.unit.admin.memory_view import MemoryView
from tests.unit.admin.raw import DEADLINE, exchange, fetch, replies
from tests.unit.relay.sockets import eventually

GET = b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
COMMAND = "/api/v1/clusters/main/rebootstrap"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def own(authority: Authority) -> Certificate:
    """What kproxy shows."""
    return authority.signed("kproxy")


@pytest.fixture(scope="module")
def operator(authority: Authority) -> Certificate:
    """A client's."""
    return authority.signed("operator", "DNS:ops.example.com", usage="clientAuth")


def secured(own: Certificate, **more: Any) -> AdminSecurity:
    """What an admin port reads from these settings."""
    tls = {"certificate": str(own.chain), "key": str(own.key), **more}
    found = read_admin_security(Admin.model_validate({"listen": "127.0.0.1:0", "tls": tls}))
    assert found is not None
    return found


class Serve(Protocol):
    async def __call__(
        self, security: AdminSecurity, limits: Limits | None = None, token_file: str | None = None
    ) -> int: ...


@pytest.fixture
def serve(view: MemoryView, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Starts an admin port with TLS; returns its port."""
    monkeypatch.setattr(commanders, "_DELAY", 0.0)

    async def start(security: AdminSecurity, limits: Limits | None = None, token_file: str | None = None) -> int:
        commanding = Commanders(token_file, security=lambda: security)
        with_tls = partial(serve_admin, limits=limits, commanders=commanding, security=lambda: security)
        bound: tuple[str, int] = await nursery.start(with_tls, view, "127.0.0.1", 0)
        return bound[1]

    return start


async def test_an_end_that_comes_byte_by_byte(serve: Serve, authority: Authority, own: Certificate) -> None:
    """The handshake's last part in pieces: they are no progress, and the request behind it is served."""
    port = await serve(secured(own))
    arriving, leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusting(authority).wrap_bio(arriving, leaving, server_hostname="localhost")
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    async with stream:
        with trio.fail_after(DEADLINE):
            while True:
                try:
                    client.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    await stream.send_all(leaving.read())
                    arriving.write(await stream.receive_some())
            for byte in leaving.read():
                await stream.send_all(bytes([byte]))
                await trio.sleep(0.001)
            client.write(GET)
            await stream.send_all(leaving.read())
            while data := await stream.receive_some():
                arriving.write(data)
    assert b" 200 " in client.read()


def trusting(authority: Authority, shown: Certificate | None = None) -> ssl.SSLContext:
    """A client's context."""
    context = ssl.create_default_context(cafile=str(authority.file))
    if shown is not None:
        context.load_cert_chain(shown.chain, shown.key)
    return context


async def ask(
    port: int, context: ssl.SSLContext, method: str = "GET", path: str = "/livez", **headers: str
) -> tuple[int, Any]:
    """Status and JSON of a request by http.client."""

    def blocking() -> tuple[int, Any]:
        client = http.client.HTTPSConnection("localhost", port, timeout=DEADLINE, context=context)
        try:
            try:
                client.request(method, path, headers=headers)
            except OSError:
                if isinstance(client.sock, ssl.SSLSocket):
                    raise_alert(client.sock)  # which came before the request was sent
                raise
            response = client.getresponse()
            return response.status, json.loads(response.read())
        finally:
            client.close()

    return await trio.to_thread.run_sync(blocking)


def curl(arguments: Sequence[str]) -> str:
    """What curl prints: the body, and the status on a line of its own."""
    command = ["curl", "--silent", "--show-error", "--max-time", "10", "--write-out", "\n%{http_code}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("version", ["--tlsv1.3", "--tls-max=1.2"])
async def test_curl(serve: Serve, authority: Authority, own: Certificate, version: str) -> None:
    """It gets /readyz over either version of TLS."""
    port = await serve(secured(own))
    asked = [*version.split("="), "--cacert", str(authority.file), f"https://localhost:{port}/readyz"]
    said = await trio.to_thread.run_sync(curl, asked)
    assert said.endswith("\n200"), said


async def test_plain_http(serve: Serve, own: Certificate) -> None:
    """Its client is told, also when the request is none."""
    port = await serve(secured(own))
    for sent in (GET, b"nonsense\r\n\r\n"):
        (reply,) = replies(await exchange(port, sent))
        assert (reply.status, reply.headers["connection"]) == (400, "close")
        assert reply.json() == {"error": "this is plain HTTP; the admin port speaks TLS: use https://"}


async def test_a_page_that_is_large(view: MemoryView, serve: Serve, authority: Authority, own: Certificate) -> None:
    """It comes whole, in many records, to a client that reads slowly as well."""
    view.counters = replace(view.counters)
    port = await serve(secured(own))
    for number in range(3000):
        view.counters.cluster(f"cluster-{number}")

    def slowly() -> bytes:
        with socket.socket() as plain:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            plain.settimeout(DEADLINE)
            plain.connect(("127.0.0.1", port))
            with trusting(authority).wrap_socket(plain, server_hostname="localhost") as stream:
                stream.sendall(GET.replace(b"/livez", b"/metrics"))
                return b"".join(iter(partial(stream.recv, 1000), b""))

    received = await trio.to_thread.run_sync(slowly)
    (reply,) = replies(received)
    assert (reply.status, len(reply.body) > 1 << 20) == (200, True)


async def test_a_client_that_keeps_its_connection(serve: Serve, authority: Authority, own: Certificate) -> None:
    """As Prometheus does; it ends it by close_notify, or by a FIN alone."""
    port = await serve(secured(own))
    for politely in (True, False):
        plain = await trio.open_tcp_stream("127.0.0.1", port)
        stream = trio.SSLStream(plain, trusting(authority), server_hostname="localhost", https_compatible=not politely)
        with trio.fail_after(DEADLINE):
            for _ in range(3):
                await stream.send_all(GET.replace(b"Connection: close\r\n", b""))
                assert b" 200 " in await stream.receive_some()
            await stream.aclose()


async def test_an_end_without_close_notify(serve: Serve, authority: Authority, own: Certificate) -> None:
    """A FIN after the request: the answer still comes."""
    port = await serve(secured(own))

    def half_closed() -> bytes:
        plain = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE)
        with plain, trusting(authority).wrap_socket(plain, server_hostname="localhost") as stream:
            stream.sendall(GET)
            socket.socket.shutdown(stream, socket.SHUT_WR)
            return b"".join(iter(partial(stream.recv, 1000), b""))

    assert replies(await trio.to_thread.run_sync(half_closed))[0].status == 200


CERTIFIED: Sequence[tuple[dict[str, Any], bool, int]] = [
    ({}, True, 200),
    ({}, False, 403),
    ({"client_names": ["operator"]}, True, 200),
    ({"client_names": ["someone", "ops.example.com"]}, True, 200),
    ({"client_names": ["someone"]}, True, 403),
]


@pytest.mark.parametrize(("more", "shows", "status"), CERTIFIED)
async def test_a_certificate_gives_commands(
    serve: Serve,
    authority: Authority,
    own: Certificate,
    operator: Certificate,
    more: dict[str, Any],
    shows: bool,
    status: int,
) -> None:
    """Any of the authority, or one with a name that is wanted; pages need none, and another machine's count as well."""
    port = await serve(secured(own, client_ca=str(authority.file), **more))
    context = trusting(authority, operator if shows else None)
    got, said = await ask(port, context, "POST", COMMAND)
    assert got == status, said
    assert status == 200 or "admin.tls.client_" in said["error"]
    assert (await ask(port, trusting(authority)))[0] == 200


async def test_a_token_or_a_certificate(
    view: MemoryView, serve: Serve, authority: Authority, own: Certificate, operator: Certificate, tmp_path: Path
) -> None:
    """Either will do where both are configured; whose certificate it was is reported."""
    (tmp_path / "token").write_text("secret")
    port = await serve(secured(own, client_ca=str(authority.file)), token_file=str(tmp_path / "token"))
    certified, anonymous = trusting(authority, operator), trusting(authority)
    assert (await ask(port, certified, "POST", COMMAND))[0] == 200
    assert (await ask(port, anonymous, "POST", COMMAND, Authorization="Bearer secret"))[0] == 200
    status, said = await ask(port, anonymous, "POST", COMMAND)
    assert (status, "or a certificate of `admin.tls.client_ca`" in said["error"]) == (401, True)
    assert [event.certificate for _, event in view.reported] == ["operator, ops.example.com", None, None]


async def test_certificates_for_pages(
    serve: Serve, authority: Authority, own: Certificate, operator: Certificate
) -> None:
    """Where they are required nobody gets a page without one; a stranger's never counts."""
    port = await serve(secured(own, client_ca=str(authority.file), require_client_certificate=True))
    assert (await ask(port, trusting(authority, operator)))[0] == 200
    with pytest.raises(OSError, match=r"(?i)certificate required"):
        await ask(port, trusting(authority))


async def test_a_certificate_of_another_authority(
    serve: Serve, authority: Authority, own: Certificate, tmp_path: Path
) -> None:
    """The handshake fails, and its client is told why."""
    port = await serve(secured(own, client_ca=str(authority.file)))
    stranger = Authority(tmp_path, "strangers").signed("operator", usage="clientAuth")
    with pytest.raises(OSError, match=r"(?i)unknown ca"):
        await ask(port, trusting(authority, stranger))


async def test_files_that_were_read_again(
    view: MemoryView, nursery: trio.Nursery, authority: Authority, own: Certificate, operator: Certificate
) -> None:
    """What verified a connection's certificate before gives no command any more; the next connection's does."""
    current = [secured(own, client_ca=str(authority.file))]
    now = lambda: current[0]  # noqa: E731
    start = partial(serve_admin, view, "127.0.0.1", 0, commanders=Commanders(security=now), security=now)
    _, port = await nursery.start(start)
    context = trusting(authority, operator)

    def use() -> list[int]:
        client, found = http.client.HTTPSConnection("localhost", port, timeout=DEADLINE, context=context), []
        for _ in range(3):
            client.request("POST", COMMAND)
            response = client.getresponse()
            found.append(response.status)
            response.read()
            if len(found) == 1:
                current[0] = secured(own, client_ca=str(authority.file))
        client.close()
        return found

    assert await trio.to_thread.run_sync(use) == [200, 503, 200]


async def test_a_handshake_that_never_ends(
    serve: Serve, authority: Authority, own: Certificate, bounds: Bounds
) -> None:
    """Silent, in the middle of its hello, or behind it: it ends at the deadline, and others are served meanwhile."""
    port = await serve(secured(own), Limits(handshake_seconds=1))
    begun = trio.current_time()
    hello = hello_of(authority)
    for sent in (b"", hello[:1], hello[:50], hello):
        received = await ended(port, sent)
        assert (received != b"") == (sent == hello)
        took = trio.current_time() - begun
        assert took >= 1
        bounds.below(took, 5, "seconds until a handshake is ended")
        begun = trio.current_time()
    assert (await ask(port, trusting(authority)))[0] == 200


@pytest.mark.parametrize("sent", [b"\x16\x03\x01\x00\x00", b"\x16GET / HTTP/1.1\r\n\r\n", b"\x16"])
async def test_what_is_no_hello(serve: Serve, authority: Authority, own: Certificate, sent: bytes) -> None:
    """It ends, and others are served."""
    port = await serve(secured(own))
    assert await ended(port, sent, close_our_side=True) == b""
    assert (await ask(port, trusting(authority)))[0] == 200


async def test_a_client_that_refuses_the_certificate(serve: Serve, own: Certificate) -> None:
    """Its handshake fails on its side; nothing else happens."""
    port = await serve(secured(own))
    with pytest.raises(ssl.SSLCertVerificationError):
        await ask(port, ssl.create_default_context())


@pytest.mark.parametrize("count", [300])
async def test_handshakes_that_stop_keep_nobody_out(
    serve: Serve, authority: Authority, own: Certificate, count: int, nursery: trio.Nursery
) -> None:
    """Far more than there are places, from the same address, and each is replaced as soon as it is ended."""
    port = await serve(secured(own))
    hello = hello_of(authority)
    made = 0

    async def stop_in_the_middle() -> None:
        nonlocal made
        while True:
            stream = await trio.open_tcp_stream("127.0.0.1", port)
            made += 1
            async with stream:
                await stream.send_all(hello)
                try:
                    while await stream.receive_some(65536):
                        pass
                except trio.BrokenResourceError:
                    pass

    for _ in range(count):
        nursery.start_soon(stop_in_the_middle)
    with trio.fail_after(80):
        await eventually(lambda: made > count, "the first of them are replaced")
        for _ in range(5):
            assert (await ask(port, trusting(authority)))[0] == 200
    nursery.cancel_scope.cancel()


async def test_tls_at_a_port_in_plaintext(port: int, authority: Authority) -> None:
    """A client of TLS gets bytes that are none of TLS, and whoever reads them finds the reason."""
    (reply,) = replies(await exchange(port, hello_of(authority)))
    assert (reply.status, "http://" in reply.json()["error"]) == (400, True)
    assert (await fetch(port, "/livez")).status == 200


async def ended(port: int, sent: bytes, *, close_our_side: bool = False) -> bytes:
    """What comes until kproxy ends the connection; by a reset, where it has not read all."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    received = b""
    async with stream:
        with trio.fail_after(DEADLINE), suppress(trio.BrokenResourceError):
            await stream.send_all(sent)
            if close_our_side:
                await stream.send_eof()
            while data := await stream.receive_some():
                received += data
    return received


def hello_of(authority: Authority) -> bytes:
    """The first bytes of a client."""
    arriving, leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusting(authority).wrap_bio(arriving, leaving, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return leaving.read()
