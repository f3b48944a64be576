"""kproxy.upstream.trust: certificates that a plain openssl makes are taken on every Python."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from kproxy.cli.admin_tls import AdminTls
from kproxy.config.receivers import Tls
from kproxy.telemetry.receivers.factory import _tls
from kproxy.upstream.trust import client_context
from tests.support.authority import Authority, Certificate


def shake_hands(client: ssl.SSLContext, shown: Certificate, host: str = "kafka.test") -> None:
    """Have both sides shake hands in memory; raises what the client has against the server."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(shown.chain, shown.key)
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = (client.wrap_bio(back, there, server_hostname=host), server.wrap_bio(there, back, server_side=True))
    for _ in range(4):
        for side in sides:
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue


def strict(ca: str | None = None) -> ssl.SSLContext:
    """As Python 3.13 has it."""
    context = ssl.create_default_context(cafile=ca)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    return context


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Return one without a key usage, whose certificates have no authority key id."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.mark.parametrize(
    "trusting",
    [
        client_context,
        lambda ca: _tls(Tls(ca=ca)),
        lambda ca: AdminTls(ca=ca)._context(),
    ],
)
def test_a_plain_authority(
    authority: Authority, trusting: Callable[[str], ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Python's own default refuses since 3.13 is trusted, and only for its hosts."""
    shown, ca = authority.signed("server", "DNS:kafka.test"), str(authority.file)
    with pytest.raises(ssl.SSLCertVerificationError, match=r"Missing Authority|CA cert does not include"):
        shake_hands(strict(ca), shown)
    monkeypatch.setattr(ssl, "create_default_context", lambda **_: pytest.fail("strict on 3.13"))
    shake_hands(trusting(ca), shown)
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shake_hands(trusting(ca), shown, "other.test")


def test_no_authority_of_the_system(authority: Authority, tmp_path: Path) -> None:
    """Without a file the system's are trusted; a file that is none is an error."""
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(client_context(), authority.signed("server", "DNS:kafka.test"))
    with pytest.raises(OSError, match="No such file"):
        client_context(str(tmp_path / "missing.pem"))
