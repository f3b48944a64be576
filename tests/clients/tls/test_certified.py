"""Clients that authenticate to kproxy by their certificates (mTLS); to the real broker all are kproxy's identity."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import pytest
from confluent_kafka import Producer
from kafka import KafkaAdminClient

from tests.clients.tls.test_certificates import ended, own
from tests.support.authority import Authority, Certificate
from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.secured import PASSWORD, Secured
from tests.support.wait import until

IDENTITY: Final = {"mechanism": "SCRAM-SHA-512", "username": "bob", "password": PASSWORD}
RULES: Final = [{"subject": "CN=svc-([a-z]+)", "principal": "$1"}, {"subject": "CN=admin", "principal": "operator"}]


@pytest.fixture(scope="module")
def proxy(broker: Secured, authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """Yield a kproxy whose rules know svc-* and admin."""
    each: dict[str, Any] = {
        "tls": {**own(authority.signed("server")), "client_ca": str(authority.file)},
        "upstream_tls": {"ca": str(authority.file)},
        "identity": IDENTITY,
        "authentication": {"certificates": RULES},
    }
    directory, log = tmp_path_factory.mktemp("certified"), {"format": "json", "level": "debug"}
    with Proxy(directory, {"kafka": broker.bootstrap}, each=each, log=log, topology={"interval": "1s"}) as started:
        until(lambda: started.get("/readyz?strict")[0] == 200, "ready, strictly")
        yield started


def of_librdkafka(proxy: Proxy, authority: Authority, certificate: Certificate, **settings: Any) -> Producer:
    """Return a producer with this certificate."""
    shown = {"ssl.certificate.location": str(certificate.chain), "ssl.key.location": str(certificate.key)}
    common = {"bootstrap.servers": proxy.bootstrap(), "security.protocol": "ssl", "log_level": 0, "acks": "all"}
    return Producer({**common, "ssl.ca.location": str(authority.file), **shown, **settings})


def test_librdkafka(proxy: Proxy, authority: Authority, broker: Secured) -> None:
    """It produces as the user that its certificate names; to the broker it is kproxy's identity."""
    topic = Backend(broker.cluster).topic(1, 1)
    client = of_librdkafka(proxy, authority, authority.signed("svc-orders"), **{"client.id": "certified"})
    client.produce(topic, b"one")
    assert client.flush(20) == 0
    assert Backend(broker.cluster).end_offsets(topic) == {0: 1}
    assert until(lambda: broker.principals("certified"), "the broker's view") == {"User:bob"}
    del client
    (line, *_) = until(lambda: proxy.logged(event="connection ended", client_id="certified"), "the end in the log")
    assert line["principal"] == "User:orders"
    assert proxy.metric("kproxy_authentications_total", mechanism="mTLS", outcome="accepted") >= 1


def test_kafka_python(proxy: Proxy, authority: Authority) -> None:
    """It lists topics as the user that its certificate names."""
    mine = authority.signed("admin")
    KafkaAdminClient(
        bootstrap_servers=proxy.bootstrap(),
        client_id="of-kafka-python",
        security_protocol="SSL",
        ssl_cafile=str(authority.file),
        ssl_certfile=str(mine.chain),
        ssl_keyfile=str(mine.key),
    ).close()
    (line, *_) = until(lambda: proxy.logged(event="connection ended", client_id="of-kafka-python"), "its end")
    assert line["principal"] == "User:operator"


def test_a_certificate_that_no_rule_names(proxy: Proxy, authority: Authority) -> None:
    """Its connection ends behind the handshake, though the authority is trusted; log and metric say why."""
    told = proxy.told("authentication_failed")
    client = of_librdkafka(proxy, authority, authority.signed("svc-orders-2"))
    until(partial(ended, proxy, client, "authentication_failed", told), "it is refused", timeout=20)
    details = [line["detail"] for line in proxy.logged(event="connection ended", reason="authentication_failed")]
    assert "mTLS: no rule of authentication.certificates is for the subject CN=svc-orders-2" in details
    assert proxy.metric("kproxy_authentications_total", mechanism="mTLS", outcome="refused") >= 1


def test_sasl_beside_it(proxy: Proxy, authority: Authority) -> None:
    """A client that speaks SASL as well is told that no mechanism is offered, and disconnected."""
    told = proxy.told("authentication_failed")
    settings = {"security.protocol": "sasl_ssl", "sasl.mechanism": "PLAIN", "sasl.username": "a", "sasl.password": "b"}
    client = of_librdkafka(proxy, authority, authority.signed("svc-both"), **settings)
    until(partial(ended, proxy, client, "authentication_failed", told), "it is refused", timeout=20)
