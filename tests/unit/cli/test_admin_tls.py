"""Commands over TLS to a real admin port: files, names, client certificates, and what each mistake is called."""

from __future__ import annotations

import select
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kproxy.cli.admin_port import AdminPort
from kproxy.cli.admin_tls import AdminTls
from kproxy.cli.output import CliError
from tests.support.admin_serving import Serving, secured
from tests.support.authority import Authority, Certificate
from tests.unit.cli.running import run

NAME = "kproxy.example.com"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def operator(authority: Authority) -> Certificate:
    return authority.signed("operator", usage="clientAuth")


@pytest.fixture(scope="module")
def serving(authority: Authority) -> Iterator[Serving]:
    """Its certificate is for kproxy.example.com only."""
    with Serving(secured(authority, authority.signed("kproxy", f"DNS:{NAME}"))) as made:
        yield made


def test_a_command_with_a_certificate(serving: Serving, authority: Authority, operator: Certificate) -> None:
    """`kproxy rebootstrap` as users call it, by flags and by variables; without the certificate it is refused."""
    flags = ["--admin", f"https://127.0.0.1:{serving.port}", "--ca", str(authority.file), "--server-name", NAME]
    command = ["rebootstrap", "main", "--json", *flags]
    done = run(*command, "--certificate", str(operator.chain), "--key", str(operator.key))
    assert (done.returncode, done.stderr) == (0, "")
    done = run(*command)
    assert (done.returncode, "admin.tls.client_ca" in done.stderr) == (1, True)
    variables = {
        "KPROXY_ADMIN_URL": flags[1],
        "KPROXY_ADMIN_CA_FILE": str(authority.file),
        "KPROXY_ADMIN_SERVER_NAME": NAME,
        "KPROXY_ADMIN_CERTIFICATE_FILE": str(operator.both),
    }
    done = run("rebootstrap", "main", **variables)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_certificate_itself_is_trusted(serving: Serving, authority: Authority) -> None:
    """In kproxy's own pod there may be no file but its own certificate."""
    own = AdminTls(str(authority.directory / "kproxy.pem"), server_name=NAME)
    assert AdminPort(f"https://127.0.0.1:{serving.port}", tls=own).get("/livez") == {"state": "alive"}


def why(serving: Serving, tls: AdminTls, scheme: str = "https") -> str:
    """What a command is told."""
    with pytest.raises(CliError) as caught:
        AdminPort(f"{scheme}://127.0.0.1:{serving.port}", tls=tls).get("/api/v1/clusters")
    return str(caught.value)


def test_whom_it_does_not_trust(serving: Serving, authority: Authority, tmp_path: Path) -> None:
    """An unknown authority, another name, files that are none: each line says what to do."""
    assert "name that one (--ca)" in why(serving, AdminTls(server_name=NAME))
    assert "say which name it has (--server-name)" in why(serving, AdminTls(str(authority.file)))
    assert "speaks TLS: use https://" in why(serving, AdminTls(), "http")
    assert "No such file or directory (--ca or KPROXY_ADMIN_CA_FILE)" in why(serving, AdminTls(str(tmp_path / "none")))
    (tmp_path / "junk").write_text("junk")
    assert "is no PEM file" in why(serving, AdminTls(str(tmp_path / "junk")))


def test_what_it_shows(serving: Serving, authority: Authority, operator: Certificate, tmp_path: Path) -> None:
    """A key alone, another one's, a stranger's certificate, none where one is demanded."""
    ca, other = str(authority.file), authority.signed("other")
    assert "--key needs a --certificate" in why(serving, AdminTls(ca, key=str(operator.key), server_name=NAME))
    mixed = AdminTls(ca, str(operator.chain), str(other.key), NAME)
    assert "the key does not fit the certificate" in why(serving, mixed)
    stranger = Authority(tmp_path, "strangers").signed("stranger")
    assert "does not trust the authority" in why(serving, AdminTls(ca, str(stranger.chain), str(stranger.key), NAME))
    before = serving.security
    serving.security = secured(authority, authority.signed("kproxy-2", f"DNS:{NAME}"), demands=True)
    assert "asks for a client certificate (--certificate, --key)" in why(serving, AdminTls(ca, server_name=NAME))
    serving.security = before


class Late(AdminTls):
    """A command that sends once its connection has ended."""

    def connect(self, host: str, port: int, timeout: float) -> ssl.SSLSocket:
        """Return a socket that can no more be written to."""
        made = super().connect(host, port, timeout)
        ended = select.poll()
        ended.register(made, 0)  # an end is always told
        assert ended.poll(10_000)
        return made


def test_a_refusal_before_the_command_is_sent(serving: Serving, authority: Authority) -> None:
    """TLS 1.3 refuses a client after its handshake: it fails to send, and finds the reason in what it reads."""
    before = serving.security
    serving.security = secured(authority, authority.signed("kproxy-3", f"DNS:{NAME}"), demands=True)
    late = Late(str(authority.file), server_name=NAME)
    assert "asks for a client certificate (--certificate, --key)" in why(serving, late)
    serving.security = before


def test_a_certificate_that_has_ended(serving: Serving, authority: Authority) -> None:
    """OpenSSL's words."""
    before = serving.security
    serving.security = secured(authority, authority.signed("ended", f"DNS:{NAME}", days=(-9, -2)))
    assert "certificate has expired" in why(serving, AdminTls(str(authority.file), server_name=NAME))
    serving.security = before


def test_a_port_in_plaintext(serving: Serving) -> None:
    """It is told apart from one that cannot be reached."""
    before, serving.security = serving.security, None
    assert "it speaks plain HTTP; write http://" in why(serving, AdminTls())
    serving.security = before


def test_a_server_that_closes(authority: Authority) -> None:
    """TLS says nothing about that."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def close() -> None:
            listener.accept()[0].close()

        thread = threading.Thread(target=close)
        thread.start()
        with pytest.raises(CliError, match="cannot be asked"):
            AdminPort(f"https://127.0.0.1:{listener.getsockname()[1]}", tls=AdminTls()).get("/")
        thread.join(10)
