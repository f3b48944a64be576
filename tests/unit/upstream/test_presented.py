"""What servers present: OpenSSL's own server with certificates that fit and that do not, and what is said of each."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from kproxy.config.tls import UpstreamTls
from kproxy.upstream.presented import Presented, presented, speaks_tls
from tests.support.authority import Authority, Certificate, openssl
from tests.support.tls_server import server

LIMIT = 5.0


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


def ask(port: int, authority: Authority | None, host: str = "localhost", **more: Any) -> Presented:
    """What kproxy finds there."""
    ca = {} if authority is None else {"ca": str(authority.file)}
    return presented(host, port, UpstreamTls.model_validate({**ca, **more}), "tls", LIMIT)


def found(made: Certificate, authority: Authority | None, *flags: str, **more: Any) -> Presented:
    """As `ask`, of a server with this certificate."""
    with server(made.chain, made.key, *flags) as port:
        return ask(port, authority, **more)


@pytest.mark.parametrize("version", ["tls1_2", "tls1_3"])
def test_a_certificate_that_fits(authority: Authority, version: str) -> None:
    """All that is to be seen of it, and nothing to complain of."""
    one = found(authority.signed("broker"), authority, f"-{version}")
    assert (one.problems, one.notes) == ([], [])
    assert (one.version, bool(one.cipher)) == ({"tls1_2": "TLSv1.2", "tls1_3": "TLSv1.3"}[version], True)
    (shown,) = one.chain
    assert (shown.subject, shown.issuer) == ("CN=broker", "CN=test ca")
    assert (shown.key, shown.key_bits, shown.signature) == ("EC", 256, "ECDSA with SHA-256")
    assert shown.names == ["DNS:localhost", "IP Address:127.0.0.1"]
    assert shown.ends - shown.begins == 2 * 86_400


def test_one_that_has_expired(authority: Authority) -> None:
    """And it is for another host as well: both are said."""
    one = found(authority.signed("old", "DNS:else.example", days=(-9, -2)), authority)
    assert "CN=old has expired on " in one.problems[0]
    assert "CN=old is not for localhost, it has DNS:else.example: connect by such a name" in one.problems[1]
    assert len(one.problems) == 2


def test_one_that_is_not_valid_yet(authority: Authority) -> None:
    """The clocks may be wrong."""
    (problem,) = found(authority.signed("young", days=(2, 9)), authority).problems
    assert problem.startswith("CN=young is not valid before ")


def test_names(authority: Authority) -> None:
    """A wildcard covers one label; an address is compared as such; `server_name` and the dangerous settings count."""
    made = authority.signed("named", "DNS:*.example.com", "IP:127.0.0.2", "DNS:b.example.net")
    assert found(made, authority, server_name="a.example.com").problems == []
    assert found(made, authority, server_name="B.example.net.").problems == []
    assert "is not for a.b.example.com" in found(made, authority, server_name="a.b.example.com").problems[0]
    assert "is not for 127.0.0.1, it has" in found(made, authority, host="127.0.0.1").problems[0]
    assert found(made, authority, dangerously_accept_any_host_name=True).problems == []


def test_an_authority_that_is_not_trusted(authority: Authority, tmp_path: Path) -> None:
    """Whose it is; where the authority itself is sent, or is the certificate, that is said."""
    other = Authority(tmp_path, "others")
    made = other.signed("broker")
    (problem,) = found(made, authority).problems
    assert problem.startswith("CN=test others, which issued CN=broker, is neither sent nor trusted: name it in `ca`")
    (problem,) = found(made, authority, "-cert_chain", str(other.file)).problems
    assert problem == "CN=test others signs itself, and is not trusted: name its certificate in `ca`"
    (problem,) = ask_own(other).problems
    assert problem.startswith("CN=test others signs itself")
    one = found(made, None, dangerously_accept_any_certificate=True)
    assert (one.problems, one.chain[0].issuer) == ([], "CN=test others")


def ask_own(other: Authority) -> Presented:
    """A server that shows an authority's own certificate, asked by any host name."""
    with server(other.file, other.file.with_suffix(".key")) as port:
        return ask(port, None, dangerously_accept_any_host_name=True)


def test_a_missing_intermediate(authority: Authority, tmp_path: Path) -> None:
    """The chain ends with what issued the server's certificate: with it, it fits."""
    between = Authority.between(authority, tmp_path)
    made = between.signed("broker")
    (problem,) = found(made, authority).problems
    assert "CN=between, which issued CN=broker" in problem
    assert "have the broker send its whole chain" in problem
    one = found(made, authority, "-cert_chain", str(between.file))
    assert (one.problems, [each.subject for each in one.chain]) == ([], ["CN=broker", "CN=between"])


def test_a_weak_certificate(tmp_path: Path) -> None:
    """Its key and its signature; a problem where OpenSSL refuses it, as by Debian's default."""
    key, chain, config = tmp_path / "weak.key", tmp_path / "weak.pem", tmp_path / "weak.cnf"
    config.write_text("[req]\ndistinguished_name=n\nx509_extensions=e\n[n]\n[e]\nsubjectAltName=DNS:localhost\n")
    made = ("-newkey", "rsa:1024", "-nodes", "-keyout", str(key), "-out", str(chain), "-subj", "/CN=weak", "-sha256")
    openssl("req", "-x509", "-config", str(config), *made)
    with server(chain, key, "-cipher", "ALL:@SECLEVEL=0") as port:
        one = presented("localhost", port, UpstreamTls(ca=str(chain)), "tls", LIMIT)
    assert (one.chain[0].key, one.chain[0].key_bits, one.chain[0].signature) == ("RSA", 1024, "RSA with SHA-256")
    assert [*one.problems, *one.notes] == ["CN=weak has a weak key, RSA of 1024 bits"]


@pytest.mark.parametrize("version", ["tls1_2", "tls1_3"])
def test_a_server_that_asks_for_a_certificate(authority: Authority, version: str) -> None:
    """Without one kproxy has to be given one; with one it fits."""
    made, own = authority.signed("broker"), authority.signed("own")
    flags = ("-Verify", "2", "-verify_return_error", "-CAfile", str(authority.file), f"-{version}")
    (problem,) = found(made, authority, *flags).problems
    assert problem == "it asks for a client certificate, and kproxy has none: give it one (`certificate`, `key`)"
    assert found(made, authority, *flags, certificate=str(own.chain), key=str(own.key)).problems == []


def test_versions_that_do_not_meet(authority: Authority) -> None:
    """An old server, and `min_version`."""
    (problem,) = found(authority.signed("broker"), authority, "-tls1_2", min_version="TLSv1.3").problems
    assert "no version of TLS" in problem


@contextmanager
def answering(answer: bytes) -> Iterator[int]:
    """A server that answers in plaintext, and closes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    peer, _ = listener.accept()
                except OSError:
                    return
                with peer:
                    peer.recv(4096)
                    peer.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def test_plaintext(authority: Authority) -> None:
    """At a port that should speak TLS; nobody there; nothing said."""
    with answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        (problem,) = ask(port, authority).problems
        assert problem.startswith("it answers in plaintext, and `tls` is set")
        assert not speaks_tls("127.0.0.1", port, LIMIT)
    with answering(b"") as port:
        (problem,) = ask(port, authority).problems
        assert "does it speak TLS?" in problem
    (problem,) = ask(port, authority).problems
    assert problem == "cannot be asked: connection refused"
    assert not speaks_tls("127.0.0.1", port, LIMIT)


def test_a_server_that_speaks_first(authority: Authority) -> None:
    """What it says behind the handshake is no complaint."""
    made = authority.signed("broker")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.chain, made.key)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for _ in range(2):
                peer, _address = listener.accept()
                with peer, context.wrap_socket(peer, server_side=True) as stream, suppress(OSError):
                    stream.sendall(b"hello")
                    stream.recv(1)

        thread = threading.Thread(target=serve)
        thread.start()
        assert ask(listener.getsockname()[1], authority).problems == []
        thread.join(10)


def test_tls_where_plaintext_is_expected(authority: Authority) -> None:
    """It is found, also where it wants a certificate."""
    made = authority.signed("broker")
    with server(made.chain, made.key) as port:
        assert speaks_tls("localhost", port, LIMIT)
    with server(made.chain, made.key, "-Verify", "2", "-verify_return_error", "-tls1_2") as port:
        assert speaks_tls("localhost", port, LIMIT)
