"""Whose certificates are trusted, on both sides, with a real broker; and certificates that change under load."""

from __future__ import annotations

import shutil
import signal
import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from confluent_kafka import Producer

from kproxy.local_kafka.broker import HOST
from tests.support.authority import Authority, Certificate
from tests.support.backend import Backend
from tests.support.libraries import CONFLUENT_KAFKA, JAVA_4_4, Kind, Library, Role
from tests.support.long_lived import LongLived
from tests.support.proxy import Proxy
from tests.support.secured import Secured
from tests.support.wait import until

ROTATIONS: Final = 20


def own(certificate: Certificate) -> dict[str, str]:
    """The settings of a certificate."""
    return {"certificate": str(certificate.chain), "key": str(certificate.key)}


@contextmanager
def kproxy(directory: Path, servers: str, *, looks: str = "10s", **each: Any) -> Iterator[Proxy]:
    """A kproxy in front of a broker that it may not get on with; `looks` is how often it looks at its files."""
    directory.mkdir()
    with Proxy(directory, {"kafka": servers}, each=each, reload={"interval": looks}) as proxy:
        yield proxy


def unready(proxy: Proxy) -> str:
    """Why kproxy is degraded, once it says so."""
    return str(until(lambda: proxy.get_json("/readyz?strict")["reasons"], "a reason", timeout=30))


def test_a_broker_that_wants_a_certificate(strict: Secured, authority: Authority, tmp_path: Path) -> None:
    """With kproxy's own the cluster is seen; without one the reason is in /readyz, and in a client's end."""
    ca = {"ca": str(authority.file)}
    with kproxy(tmp_path / "with", strict.bootstrap, upstream_tls={**ca, **own(authority.signed("me"))}) as proxy:
        assert proxy.node_ports().keys() == {7}
        assert proxy.get("/readyz?strict")[0] == 200
    with kproxy(tmp_path / "without", strict.bootstrap, upstream_tls=ca) as proxy:
        assert "certificate" in unready(proxy)


@pytest.mark.parametrize(
    ("trusted", "said"),
    [
        ("another authority", "its authority is not trusted; name that in `ca`"),
        ("another host", "it is for another host; connect by a name that it has, or set `server_name`"),
        ("plaintext", "does it speak TLS?"),
    ],
)
def test_a_broker_that_is_not_trusted(
    broker: Secured, authority: Authority, tmp_path: Path, trusted: str, said: str
) -> None:
    """The reason is in /readyz and in the log, and no client's bytes have reached the broker."""
    tls = {"ca": str(authority.file)}
    servers = broker.bootstrap
    if trusted == "another authority":
        tls["ca"] = str(Authority(tmp_path, "stranger").file)
    elif trusted == "another host":
        tls["server_name"] = "kafka.example.com"
    else:
        servers = broker.cluster.bootstrap
    with kproxy(tmp_path / "kproxy", servers, upstream_tls=tls) as proxy:
        assert said in unready(proxy)
        client = Producer({"bootstrap.servers": proxy.bootstrap(), "log_level": 0, "reconnect.backoff.max.ms": 500})
        until(partial(ended, proxy, client, "upstream_tls_failed"), "a client's end", timeout=20)
        (first, *_) = proxy.logged(event="connection ended", reason="upstream_tls_failed")
        assert said in first["detail"]


def test_a_client_that_needs_a_certificate(broker: Secured, authority: Authority, tmp_path: Path) -> None:
    """`client_ca`: one of that authority is let in, one without a certificate or of another authority is not."""
    strangers = Authority(tmp_path, "strangers")
    tls = {**own(authority.signed("server")), "client_ca": str(authority.file)}
    with kproxy(tmp_path / "kproxy", broker.cluster.bootstrap, tls=tls) as proxy:
        common = {"bootstrap.servers": proxy.bootstrap(), "security.protocol": "ssl", "log_level": 0}
        common["ssl.ca.location"] = str(authority.file)
        let_in = authority.signed("client")
        certified = {"ssl.certificate.location": str(let_in.chain), "ssl.key.location": str(let_in.key)}
        assert Producer({**common, **certified}).list_topics(timeout=20).brokers
        stranger = strangers.signed("stranger")
        for refused in ({}, {"ssl.certificate.location": str(stranger.chain), "ssl.key.location": str(stranger.key)}):
            client, before = Producer({**common, **refused}), proxy.told("tls_failed")
            until(partial(ended, proxy, client, "tls_failed", before), "it is refused", timeout=20)


def ended(proxy: Proxy, client: Producer, reason: str, before: int = 0) -> bool:
    """Whether more of a client's connections than before have ended for a reason."""
    client.poll(0.05)
    return proxy.told(reason) > before


def shown(port: int, authority: Authority) -> bytes:
    """The certificate that a new connection is shown."""
    context = ssl.create_default_context(cafile=str(authority.file))
    with socket.create_connection((HOST, port), 10) as plain, context.wrap_socket(plain, server_hostname=HOST) as sock:
        found = sock.getpeercert(binary_form=True)
    assert found is not None
    return found


def is_new(proxy: Proxy, authority: Authority, before: bytes) -> bool:
    """Whether a new connection is shown another certificate than before."""
    return shown(proxy.port(), authority) != before


def over_tls(library: Library, authority: Authority) -> Library:
    """The library, whose clients speak TLS."""
    trusting: dict[str, object] = {"security.protocol": "SSL"}
    if library.name == JAVA_4_4.name:
        trusting |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(authority.file)}
    else:
        trusting["ssl.ca.location"] = str(authority.file)
    return replace(library, settings={**library.settings, "all": {**library.settings.get("all", {}), **trusting}})


def roles(proxy: Proxy, topic: str) -> dict[str, Role]:
    """A producer and a consumer."""
    kinds: tuple[Kind, ...] = ("producer", "consumer")
    return {kind: Role(kind, proxy.bootstrap(), topic, kind) for kind in kinds}


def put(certificate: Certificate, place: Certificate) -> None:
    """Put a certificate and its key in the place of others, as a renewal does."""
    for source, target in ((certificate.chain, place.chain), (certificate.key, place.key)):
        beside = target.with_suffix(".new")
        shutil.copy(source, beside)
        beside.rename(target)


def check_whole(clients: Sequence[LongLived]) -> None:
    """Each library has consumed what it had acknowledged, and has noticed nothing."""
    check_records(clients)
    for one in clients:
        assert [*one.events("producer", "error"), *one.events("consumer", "error")] == []


def check_records(clients: Sequence[LongLived]) -> None:
    """Each library has consumed what it had acknowledged."""
    for one in clients:
        sent = {event.value for event in one.events("producer", "acked")}
        assert len(sent) > 20
        until(partial(_all_consumed, one, sent), "every acknowledged record is consumed", timeout=60)


def _all_consumed(one: LongLived, sent: set[str]) -> bool:
    return sent <= {event.value for event in one.events("consumer", "consumed")}


def test_certificates_that_change_under_load(broker: Secured, authority: Authority, tmp_path: Path) -> None:
    """Twenty times: new connections are shown the new one, no connection ends, no record is lost, no client sees it.

    SIGHUP tells kproxy of every second one; the others it finds by itself.
    """
    first = authority.signed("server-0")
    in_use = Certificate(tmp_path / "tls.crt", tmp_path / "tls.key")
    put(first, in_use)
    topics = [Backend(broker.cluster).topic(3, 1) for _ in range(2)]
    tls, servers = own(in_use), broker.cluster.bootstrap
    with kproxy(tmp_path / "kproxy", servers, looks="200ms", tls=tls) as proxy, ExitStack() as stack:
        clients = [
            stack.enter_context(LongLived(over_tls(library, authority), roles(proxy, topic), tmp_path))
            for library, topic in zip((CONFLUENT_KAFKA, JAVA_4_4), topics, strict=True)
        ]
        until(lambda: all(each.events("consumer", "consumed") for each in clients), "they consume", timeout=60)
        before_all = len(proxy.logged(event="connection ended"))
        for number in range(1, ROTATIONS + 1):
            before = shown(proxy.port(), authority)
            put(authority.signed(f"server-{number}"), in_use)
            if number % 2:
                proxy.signal(signal.SIGHUP)
            until(partial(is_new, proxy, authority, before), "the new one is shown", timeout=20)
        ends = proxy.logged(event="connection ended")[before_all:]
        assert [line for line in ends if line.get("client_id")] == []
        check_whole(clients)
