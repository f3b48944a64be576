"""TLS handshakes at a live admin port that stop or drip: probes are answered, and Kafka's clients notice nothing."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from tests.faults.test_admin_attacks import AT_MOST, PROBES, Attackers, answered
from tests.support.authority import openssl
from tests.support.backend import Backend
from tests.support.bounds import Bounds
from tests.support.healthy import Healthy
from tests.support.proxy import HOST, Proxy
from tests.support.wait import until


@pytest.fixture
def proxy(kafka: Backend, tmp_path: Path) -> Iterator[Proxy]:
    """Its admin port shows a certificate whose signature takes a millisecond, as most do (RSA)."""
    chain, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    made = ("-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(chain), "-subj", "/CN=kproxy")
    openssl("req", "-x509", *made, "-addext", f"subjectAltName=IP:{HOST}")
    made_of = Proxy(tmp_path, {"kafka": kafka.cluster.bootstrap}, topology={"interval": "1s"})
    made_of.with_admin_tls(chain, key)
    with made_of as proxy:
        yield proxy


def hello() -> bytes:
    """What a client of TLS says first."""
    arriving, leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(arriving, leaving, server_hostname="kproxy")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return leaving.read()


HELLO = hello()
ROUNDS = 4
BEHIND_ALL = 2.5
"""Seconds: whoever came first is looked at first, 500 hellos at 4 ms each (docs/security.md)."""
ATTACKS = {
    "500 silent": (500, b"", b"", AT_MOST),
    "200 hellos, a byte at a time": (200, HELLO[:20], b"x", AT_MOST),
    "500 hellos without the rest": (500, HELLO, b"", BEHIND_ALL),
    "200 hellos with nonsense behind them": (200, HELLO, b"x", AT_MOST),
    "200 in plaintext": (200, b"GET /livez HTTP/1.1\r\nHost: kproxy\r\n", b"x", AT_MOST),
}


@pytest.mark.parametrize(("count", "sent", "drip", "most"), ATTACKS.values(), ids=ATTACKS)
def test_probes_are_answered(
    proxy: Proxy, healthy: Healthy, count: int, sent: bytes, drip: bytes, most: float, bounds: Bounds
) -> None:
    """As long as the attack goes on, each time, on a new connection; whatever is ended is there again at once."""
    with Attackers(proxy.admin_port, count, sent, drip):
        took = [answered(proxy, probe) for probe in PROBES * ROUNDS]
        bounds.below(median(took), most, "seconds until a probe was answered")
    bounds.below(healthy.slowest, AT_MOST, "seconds of a healthy client")
    until(lambda: answered(proxy, "/livez") < AT_MOST, "it is as before")
    print(f"median {median(took):.3f} s, slowest {max(took):.3f} s; beside it {healthy.slowest:.3f} s")
