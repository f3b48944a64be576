"""What kproxy accepts of TLS by default, as OpenSSL's own client finds by trying: no weak suite, no old version."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator

import pytest

from tests.support.authority import Authority
from tests.support.proxy import HOST, Proxy
from tests.support.secured import Secured

STRONG = re.compile(r"(ECDHE-(ECDSA|RSA)-)(AES(128|256)-GCM-SHA\d+|CHACHA20-POLY1305)")
"""Suites of TLS 1.2 with forward secrecy and authenticated encryption."""


@pytest.fixture(scope="module")
def port(broker: Secured, authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a kproxy with nothing but a certificate and its key."""
    own = authority.signed("kproxy-of-suites")
    each = {"tls": {"certificate": str(own.chain), "key": str(own.key)}}
    servers = {"kafka": broker.cluster.bootstrap}
    with Proxy(tmp_path_factory.mktemp("suites"), servers, each=each) as proxy:
        yield proxy.port()


def handshake(port: int, *options: str) -> str:
    """What OpenSSL's client says of a handshake, for which it accepts everything that it was built with."""
    command = ["openssl", "s_client", "-connect", f"{HOST}:{port}", *options]
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False, timeout=20)
    return done.stdout + done.stderr


def agreed(said: str) -> str | None:
    """The suite that both sides agreed on; None without one."""
    found = re.search(r"^New, \S+, Cipher is (\S+)$", said, re.MULTILINE)
    return None if found is None or found[1] == "(NONE)" else found[1]


def suites() -> list[str]:
    """All suites up to TLS 1.2 that this OpenSSL has, the weakest too."""
    command = ["openssl", "ciphers", "-tls1_2", "ALL:COMPLEMENTOFALL:@SECLEVEL=0"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout
    return [suite for suite in listed.strip().split(":") if not suite.startswith("TLS_")]


def test_suites_of_tls_1_2(port: int) -> None:
    """Of all that there are it accepts those with forward secrecy and authenticated encryption, and no other."""
    tried = suites()
    assert len(tried) > 40
    accepted = [suite for suite in tried if agreed(handshake(port, "-tls1_2", "-cipher", f"{suite}:@SECLEVEL=0"))]
    assert accepted
    assert [suite for suite in accepted if not STRONG.fullmatch(suite)] == []


@pytest.mark.parametrize(
    ("version", "accepted"), [("-tls1", False), ("-tls1_1", False), ("-tls1_2", True), ("-tls1_3", True)]
)
def test_versions(port: int, version: str, accepted: bool) -> None:
    """TLS 1.2 and 1.3; what is older is refused to a client that would take it."""
    said = handshake(port, version, *(() if version == "-tls1_3" else ("-cipher", "ALL:@SECLEVEL=0")))
    assert (agreed(said) is not None) is accepted, said


def test_no_renegotiation_and_no_compression(port: int) -> None:
    """Neither is on offer: both were ways to attack TLS."""
    said = handshake(port, "-tls1_2")
    assert "Compression: NONE" in said
    assert agreed(said)
    command = ["openssl", "s_client", "-connect", f"{HOST}:{port}", "-tls1_2"]
    done = subprocess.run(command, input="R\n", capture_output=True, text=True, check=False, timeout=20)
    assert "no renegotiation" in (done.stdout + done.stderr).lower()
