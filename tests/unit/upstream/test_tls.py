"""Handshakes from both sides over real sockets, what a person reads when one fails, and files that cannot be used."""

from __future__ import annotations

import os
import pty
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from kproxy.config.tls import ClientTls, UpstreamTls
from kproxy.errors import ConfigError, UpstreamError
from kproxy.upstream.client import UpstreamClient
from kproxy.upstream.dial import reason
from kproxy.upstream.tls import BrokerContext, ServerContext, shake_hands
from tests.support.authority import Authority, Certificate
from tests.unit.relay.sockets import HOST, MIB, RESET, descriptors, pair

VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
NO_TLS = "TLS failed: the peer does not speak TLS at this port"
CLOSED = "TLS failed: the peer closed the connection in the handshake; does it speak TLS?"


@dataclass(frozen=True)
class Files:
    """Two authorities, and certificates of the first."""

    authority: Authority
    stranger: Authority
    server: Certificate
    client: Certificate


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Make the files once: each certificate takes 50 ms."""
    directory = tmp_path_factory.mktemp("tls")
    authority, stranger = Authority(directory), Authority(directory, "stranger")
    return Files(authority, stranger, authority.signed("server"), authority.signed("client"))


def own(certificate: Certificate) -> dict[str, str]:
    """Return the settings that name a certificate."""
    return {"certificate": str(certificate.chain), "key": str(certificate.key)}


def server_context(certificate: Certificate, **settings: Any) -> ServerContext:
    """Return what a client is shown."""
    return ServerContext(ClientTls.model_validate(own(certificate) | settings), "clusters.c.tls")


def broker_context(**settings: Any) -> BrokerContext:
    """Return whom kproxy trusts."""
    return BrokerContext(UpstreamTls.model_validate(settings), "clusters.c.upstream_tls")


def trusting(files: Files, **settings: Any) -> BrokerContext:
    """Return what trusts the first authority."""
    return broker_context(ca=str(files.authority.file), **settings)


def at_most(context: ServerContext | BrokerContext, version: str) -> None:
    """Have a side speak no higher version, as an old peer does."""
    context._context.maximum_version = VERSIONS[version]


@dataclass
class Handshake:
    """Both sides of a handshake, and what went wrong at each; None is for nothing."""

    server: ssl.SSLSocket
    client: ssl.SSLSocket
    server_said: str | None = None
    client_said: str | None = None

    @property
    def said(self) -> tuple[str | None, str | None]:
        return self.server_said, self.client_said

    async def run(self) -> None:
        async def server() -> None:
            self.server_said = await outcome(self.server)

        async def client() -> None:
            self.client_said = await outcome(self.client)

        with trio.fail_after(40):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(server)
                nursery.start_soon(client)


async def outcome(sock: ssl.SSLSocket) -> str | None:
    """Shake hands; return what a person reads when it fails. The other side is then told that it is over."""
    try:
        await shake_hands(sock, partial(trio.lowlevel.wait_readable, sock))
    except OSError as error:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_WR)
        return reason(error)
    return None


@contextmanager
def handshake(server: ServerContext, client: BrokerContext, host: str = "localhost") -> Iterator[Handshake]:
    """Two sockets that are about to shake hands."""
    far, near = pair()
    made = Handshake(server.wrap(near), client.wrap(far, host))
    try:
        yield made
    finally:
        made.server.close()
        made.client.close()


async def said(server: ServerContext, client: BrokerContext, host: str = "localhost") -> tuple[str | None, str | None]:
    """Shake hands; return what the server and the client say."""
    with handshake(server, client, host) as made:
        await made.run()
        return made.said


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("mutual", [False, True])
async def test_a_handshake_that_succeeds(files: Files, version: str, mutual: bool) -> None:
    """Bytes then pass both ways, in the version that both know, by name and by address, with and without mTLS."""
    client = trusting(files, **(own(files.client) if mutual else {}))
    at_most(client, version)
    server = server_context(files.server, **({"client_ca": str(files.authority.file)} if mutual else {}))
    for host in ("localhost", HOST):
        with handshake(server, client, host) as made:
            await made.run()
            assert made.said == (None, None)
            assert made.client.version() == made.server.version() == version
            for one, other in ((made.client, made.server), (made.server, made.client)):
                one.send(b"ping")
                one.settimeout(5)
                other.settimeout(5)
                assert other.recv(100) == b"ping"


async def test_ciphers_of_the_old_version_have_forward_secrecy(files: Files) -> None:
    """A client of TLS 1.2 that has none of them is refused, and each side says why."""
    client = trusting(files)
    at_most(client, "TLSv1.2")
    client._context.set_ciphers("AES128-SHA")
    server, peer = await said(server_context(files.server), client)
    assert server == "TLS failed: no shared cipher"
    assert peer == "TLS failed: the peer says: it accepts no cipher of this side, or wants a certificate"


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_client_without_the_certificate_that_it_needs(files: Files, version: str) -> None:
    """The server says so. With TLS 1.3 the client is done before it is refused, and reads why."""
    client = trusting(files)
    at_most(client, version)
    with handshake(server_context(files.server, client_ca=str(files.authority.file)), client) as made:
        await made.run()
        assert made.server_said == "TLS failed: peer did not return a certificate"
        if version == "TLSv1.2":
            assert made.client_said == (
                "TLS failed: the peer says: it accepts no cipher of this side, or wants a certificate"
            )
            return
        assert made.client_said is None
        made.client.settimeout(5)
        with pytest.raises(ssl.SSLError) as caught:
            made.client.recv(1)
        assert caught.value.reason == "TLSV13_ALERT_CERTIFICATE_REQUIRED"


async def test_a_client_of_another_authority(files: Files) -> None:
    """Its certificate does not count where clients need one."""
    client = trusting(files, **own(files.stranger.signed("unknown")))
    server, _ = await said(server_context(files.server, client_ca=str(files.authority.file)), client)
    assert server == (
        "TLS failed: the peer's certificate: its authority is not trusted; name that in `client_ca`, or have it send "
        "its whole chain"
    )


async def test_a_server_of_another_authority(files: Files) -> None:
    """The client does not trust it, and the server hears that."""
    server, client = await said(server_context(files.stranger.signed("broker")), trusting(files))
    assert client == (
        "TLS failed: the peer's certificate: its authority is not trusted; name that in `ca`, or have it send its "
        "whole chain"
    )
    assert server == "TLS failed: the peer says: it does not trust the authority of this side's certificate"


async def test_the_systems_authorities_do_not_include_the_test(files: Files) -> None:
    """`upstream_tls: {}` trusts what the system trusts, and nothing else."""
    _, client = await said(server_context(files.server), broker_context())
    assert client is not None
    assert "its authority is not trusted" in client


async def test_a_certificate_that_signs_itself(files: Files) -> None:
    """It is not trusted until it is itself in `ca`."""
    itself = Certificate(files.stranger.file, files.stranger._key)
    _, client = await said(server_context(itself), trusting(files))
    assert client == "TLS failed: the peer's certificate: it signs itself; name it, or its authority, in `ca`"


@pytest.mark.parametrize(
    ("host", "said_to_people"),
    [
        ("kafka.test", "it is for another host; connect by a name that it has, or set `server_name`"),
        ("10.0.0.1", "it is for another address; connect by a name that it has, or set `server_name`"),
    ],
)
async def test_another_host(files: Files, host: str, said_to_people: str) -> None:
    """A certificate of a trusted authority is not enough; `server_name` and the dangerous settings accept it."""
    server = server_context(files.server)
    _, client = await said(server, trusting(files), host)
    assert client == f"TLS failed: the peer's certificate: {said_to_people}"
    for settings in (
        {"server_name": "localhost"},
        {"dangerously_accept_any_host_name": True},
        {"dangerously_accept_any_certificate": True},
    ):
        assert await said(server, trusting(files, **settings), host) == (None, None)


async def test_a_server_name_is_checked_and_asked_for(files: Files) -> None:
    """It replaces the host that is connected to, in the check and in what the server hears (SNI)."""
    server = server_context(files.server)
    heard: list[str] = []

    def hear(_sock: object, name: str | None, _context: object) -> None:
        heard.append(name or "")

    server._context.sni_callback = hear
    _, client = await said(server, trusting(files, server_name="kafka.test"))
    assert client is not None
    assert "it is for another host" in client
    assert await said(server, trusting(files)) == (None, None)
    assert heard == ["kafka.test", "localhost"]


async def test_a_host_with_a_final_dot(files: Files) -> None:
    """DNS takes `broker.example.` as absolute; certificates have the name without the dot."""
    assert await said(server_context(files.server), trusting(files), "localhost.") == (None, None)


async def test_any_host_name_is_not_any_certificate(files: Files) -> None:
    """The authority still counts."""
    client = trusting(files, dangerously_accept_any_host_name=True)
    _, text = await said(server_context(files.stranger.signed("broker")), client)
    assert text is not None
    assert "its authority is not trusted" in text


async def test_any_certificate(files: Files) -> None:
    """It may be of any authority, for any host, and expired."""
    server = server_context(files.stranger.signed("old", "DNS:other", days=(-3, -1)))
    assert await said(server, broker_context(dangerously_accept_any_certificate=True)) == (None, None)


@pytest.mark.parametrize(
    ("days", "text"),
    [((-3, -1), "it has expired; renew it"), ((1, 3), "it is not valid yet; look at the clocks")],
    ids=["expired", "not yet valid"],
)
async def test_a_certificate_out_of_its_time(files: Files, days: tuple[int, int], text: str) -> None:
    """Both sides refuse it, and say which it is; a server hears that its own has expired."""
    certificate = files.authority.signed(f"time{days[0]}", days=days)
    server, client = await said(server_context(certificate), trusting(files))
    assert client == f"TLS failed: the peer's certificate: {text}"
    assert server is not None
    assert server.startswith("TLS failed: the peer says: ")
    strict = server_context(files.server, client_ca=str(files.authority.file))
    server, _ = await said(strict, trusting(files, **own(certificate)))
    assert server == f"TLS failed: the peer's certificate: {text}"


async def test_a_peer_of_an_older_version(files: Files) -> None:
    """`min_version` holds on either side; both say that it is the version."""
    old = trusting(files)
    at_most(old, "TLSv1.2")
    heard = "TLS failed: the peer says: it speaks no version of TLS that this side accepts"
    refuses = "TLS failed: the peer speaks no version of TLS that this side accepts; see `min_version`"
    assert await said(server_context(files.server, min_version="TLSv1.3"), old) == (refuses, heard)
    server = server_context(files.server)
    at_most(server, "TLSv1.2")
    assert await said(server, trusting(files, min_version="TLSv1.3")) == (refuses, heard)


GARBAGE = {
    "kafka": b"\0\0\0\x10\0\x12\0\0\0\0\0\1",
    "http": b"GET / HTTP/1.1\r\n\r\n",
    "answer": b"HTTP/1.1 400 No\r\n",
}


@pytest.mark.parametrize("spoken", GARBAGE)
@pytest.mark.parametrize("side", ["server", "client"])
async def test_a_peer_that_does_not_speak_tls(files: Files, side: str, spoken: str) -> None:
    """Kafka in plaintext and HTTP are told from TLS."""
    assert await alone(files, side, GARBAGE[spoken]) == NO_TLS


@pytest.mark.parametrize("side", ["server", "client"])
async def test_a_peer_that_goes_in_the_handshake(files: Files, side: str) -> None:
    """A close and a reset are told apart; a close in the middle of a message is a close."""
    assert await alone(files, side, b"") == CLOSED
    assert await alone(files, side, b"\x16\x03\x03\x02\x00\x01") == CLOSED
    gone = await alone(files, side, b"", reset=True)
    assert gone == "TLS failed: the peer went away in the handshake (connection reset by peer); does it speak TLS?"


async def alone(files: Files, side: str, data: bytes, *, reset: bool = False) -> str | None:
    """Shake hands with a peer that sends this and then closes, once it was greeted if a client greets it."""
    far, near = pair()
    sock = server_context(files.server).wrap(near) if side == "server" else trusting(files).wrap(near, "localhost")
    far.send(data)

    async def go() -> None:
        if side == "client":
            await trio.lowlevel.wait_readable(far)
            far.recv(MIB)
        await trio.testing.wait_all_tasks_blocked()
        if reset:
            far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            far.close()
        else:
            far.shutdown(socket.SHUT_WR)

    try:
        with trio.fail_after(40):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(go)
                return await outcome(sock)
    finally:
        far.close()
        sock.close()
    raise AssertionError


async def test_what_readable_raises_goes_through(files: Files) -> None:
    """The acceptor ends a handshake by it."""
    far, near = pair()
    sock = server_context(files.server).wrap(near)

    async def readable() -> None:
        raise KeyError("over")

    with pytest.raises(KeyError, match="over"):
        await shake_hands(sock, readable)
    sock.close()
    far.close()


@contextmanager
def refused(key: str) -> Iterator[list[str]]:
    """The reason of the `ConfigError` that is raised inside, for this key."""
    found: list[str] = []
    with pytest.raises(ConfigError) as caught:
        yield found
    assert caught.value.key == key
    assert "\n" not in caught.value.reason
    found.append(caught.value.reason)


def load(**settings: Any) -> None:
    """Read files as TLS to clients, and as TLS to brokers: the same settings are refused in the same words."""
    ServerContext(ClientTls.model_validate(settings), "tls")


def test_files_that_cannot_be_read(files: Files, tmp_path: Path) -> None:
    """The line has the setting's key, the file, and what the system says."""
    missing = str(tmp_path / "missing.pem")
    chain, key = str(files.server.chain), str(files.server.key)
    for settings, setting in (
        ({"certificate": missing, "key": key}, "certificate"),
        ({"certificate": chain, "key": missing}, "certificate"),
        ({"certificate": chain, "key": key, "client_ca": missing}, "client_ca"),
    ):
        with refused(f"tls.{setting}") as found:
            load(**settings)
        assert missing in found[0]
        assert "No such file or directory" in found[0]
    with refused("clusters.c.upstream_tls.ca") as found:
        broker_context(ca=missing)
    assert found == [f"{missing}: No such file or directory"]


def test_files_with_other_content(files: Files, tmp_path: Path) -> None:
    """A text, an empty file, a directory, a half-written certificate, and a key in a certificate's place."""
    chain, key = files.server.chain, files.server.key
    text, empty, half, two = (tmp_path / name for name in ("text", "empty", "half", "two"))
    text.write_text("not a certificate\n")
    empty.write_text("")
    half.write_text(chain.read_text()[:300])
    two.write_text(chain.read_text() + files.authority.file.read_text()[:300])
    for bad in (text, empty, half, two, tmp_path, key):
        with refused("tls.certificate") as found:
            load(certificate=str(bad), key=str(key))
        assert str(bad) in found[0]
    for bad in (text, empty, half, tmp_path, chain):
        with refused("tls.certificate") as found:
            load(certificate=str(chain), key=str(bad))
        assert str(bad) in found[0]
    for bad in (text, empty, half, two, tmp_path, key):
        with refused("tls.client_ca") as found:
            load(certificate=str(chain), key=str(key), client_ca=str(bad))
        assert str(bad) in found[0]


def test_a_key_of_another_certificate(files: Files) -> None:
    """That is what the line says, with both files."""
    with refused("tls.certificate") as found:
        load(certificate=str(files.server.chain), key=str(files.client.key))
    assert found == [f"{files.server.chain}, {files.client.key}: the key does not fit the certificate"]


def test_one_file_with_both(files: Files) -> None:
    """Without `key` the certificate's file holds the key; one that does not is refused."""
    load(certificate=str(files.server.both))
    with refused("tls.certificate") as found:
        load(certificate=str(files.server.chain))
    assert str(files.server.chain) in found[0]


@pytest.fixture(scope="module")
def hidden(files: Files) -> Certificate:
    """A certificate whose key has a password."""
    return files.authority.signed("hidden", password="open sesame")


def test_a_key_with_a_password(hidden: Certificate, tmp_path: Path) -> None:
    """The password is a file's only line, with or without the end of the line."""
    password = tmp_path / "password"
    for end in ("", "\n", "\r\n"):
        password.write_text(f"open sesame{end}")
        load(**own(hidden), key_password_file=str(password))


@pytest.mark.parametrize(
    ("content", "key", "why"),
    [
        (b"wrong\n", "tls.certificate", "{0.chain}, {0.key}: the key's password is wrong"),
        (b"", "tls.certificate", "{0.chain}, {0.key}: the key's password is wrong"),
        (b" open sesame", "tls.certificate", "{0.chain}, {0.key}: the key's password is wrong"),
        (
            b"\xff\xfe",
            "tls.key_password_file",
            "{1}: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
        ),
        (b"x" * 5000, "tls.key_password_file", "{1}: is too long to be a password"),
    ],
)
def test_a_wrong_password(hidden: Certificate, tmp_path: Path, content: bytes, key: str, why: str) -> None:
    """Whatever the file has, it is one line that names a file; the password itself is not in it."""
    password = tmp_path / "password"
    password.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load(**own(hidden), key_password_file=str(password))
    assert (caught.value.key, caught.value.reason) == (key, why.format(hidden, password))


def test_a_password_file_that_is_missing(hidden: Certificate, tmp_path: Path) -> None:
    """The key of the line is the password file's."""
    missing = tmp_path / "missing"
    with refused("tls.key_password_file") as found:
        load(**own(hidden), key_password_file=str(missing))
    assert str(missing) in found[0]


ASKS = """
import sys
from kproxy.config.tls import ClientTls
from kproxy.errors import ConfigError, UpstreamError
from kproxy.upstream.client import UpstreamClient
from kproxy.upstream.tls import ServerContext
try:
    ServerContext(ClientTls(certificate=sys.argv[1], key=sys.argv[2]), "tls")
except ConfigError as error:
    print(error)
"""


def test_a_password_is_never_asked_for_at_the_terminal(hidden: Certificate) -> None:
    """With a terminal OpenSSL would wait there for somebody; kproxy refuses the key in one line."""
    controlling, terminal = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-c", ASKS, str(hidden.chain), str(hidden.key)],
            stdin=terminal, capture_output=True, text=True, timeout=30, check=False, start_new_session=True,
        )  # fmt: skip
    finally:
        os.close(terminal)
        os.close(controlling)
    assert done.stdout == "tls.key: has a password; name the file that has it in key_password_file\n", done.stderr
    assert done.stderr == ""


@contextmanager
def listening(files: Files, **settings: Any) -> Iterator[tuple[trio.SocketListener, ssl.SSLContext]]:
    """A listener of a broker that speaks TLS."""
    with socket.create_server((HOST, 0)) as listener:
        listener.setblocking(False)
        made = trio.SocketListener(trio.socket.from_stdlib_socket(listener))
        yield made, server_context(files.server, **settings)._context


async def serve_one(listener: trio.SocketListener, context: ssl.SSLContext) -> None:
    """Return to a client what it sends, until it goes."""
    stream = trio.SSLStream(await listener.accept(), context, server_side=True, https_compatible=True)
    try:
        await stream.send_all(await stream.receive_some(100))
    except trio.BrokenResourceError:
        pass
    await trio.aclose_forcefully(stream)


async def test_a_stream_to_a_broker(files: Files) -> None:
    """kproxy's own client gets a stream after the handshake, and closing it leaves no descriptor."""
    with trio.fail_after(40), listening(files) as (listener, context):
        before = descriptors()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve_one, listener, context)
            async with await trusting(files).stream("localhost", listener.socket.getsockname()[1]) as stream:
                await stream.send_all(b"ping")
                assert await stream.receive_some(100) == b"ping"
        assert not descriptors() - before


async def test_a_stream_that_fails_is_closed(files: Files) -> None:
    """The error has the same words as a client's connection, and no descriptor is left."""
    strange = broker_context(ca=str(files.stranger.file))
    with trio.fail_after(40), listening(files) as (listener, context):
        before = descriptors()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve_one, listener, context)
            with pytest.raises(OSError, match="TLS failed") as caught:
                await strange.stream("localhost", listener.socket.getsockname()[1])
        assert "its authority is not trusted" in reason(caught.value)
        assert not descriptors() - before


@pytest.mark.parametrize(("answer", "text"), [(b"\0\0\0\4oops", NO_TLS), (b"", CLOSED)])
async def test_a_stream_to_a_broker_without_tls(files: Files, answer: bytes, text: str) -> None:
    """A broker that answers in plaintext, and one that closes."""

    async def serve(listener: trio.SocketListener) -> None:
        async with await listener.accept() as stream:
            await stream.receive_some(MIB)
            if answer:
                await stream.send_all(answer)

    with trio.fail_after(40), listening(files) as (listener, _):
        before = descriptors()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve, listener)
            with pytest.raises(OSError, match="TLS failed") as caught:
                await trusting(files).stream("localhost", listener.socket.getsockname()[1])
        assert reason(caught.value) == text
        assert not descriptors() - before


async def test_a_broker_that_refuses_kproxy_after_the_handshake(files: Files) -> None:
    """In TLS 1.3 a client is refused by the first answer: kproxy's own client says that a certificate is wanted."""
    with trio.fail_after(40), listening(files, client_ca=str(files.authority.file)) as (listener, context):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve_refused, listener, context)
            address = "localhost", listener.socket.getsockname()[1]
            client = UpstreamClient([address], connect_timeout=5, request_timeout=5, dial=trusting(files).stream)
            await nursery.start(client.run)
            with pytest.raises(UpstreamError, match="it asks for a certificate; give kproxy one"):
                await client.metadata()
            nursery.cancel_scope.cancel()


async def serve_refused(listener: trio.SocketListener, context: ssl.SSLContext) -> None:
    """Shake hands with each client; keep the sockets, so that no reset overtakes the alert."""
    kept: list[ssl.SSLSocket] = []
    try:
        while True:
            accepted = socket.socket(fileno=(await listener.accept()).socket.detach())
            accepted.setblocking(False)
            kept.append(context.wrap_socket(accepted, server_side=True, do_handshake_on_connect=False))
            with suppress(OSError):
                await shake_hands(kept[-1], partial(trio.lowlevel.wait_readable, kept[-1]))
    finally:
        for sock in kept:
            sock.close()


async def test_a_stream_that_is_given_up(files: Files) -> None:
    """The caller's deadline ends the wait for a broker that does not shake hands, and closes the socket."""
    with listening(files) as (listener, _):
        before = descriptors()
        with trio.move_on_after(0.05) as scope:
            await trusting(files).stream("localhost", listener.socket.getsockname()[1])
        assert scope.cancelled_caught
        assert not descriptors() - before


async def test_a_refused_connection_is_not_a_failure_of_tls(files: Files) -> None:
    """Nobody listens: the error is the plain one."""
    with socket.create_server((HOST, 0)) as gone:
        port = gone.getsockname()[1]
    with pytest.raises(OSError, match="refused") as caught:
        await trusting(files).stream(HOST, port)
    assert not isinstance(caught.value, ssl.SSLError)
