"""A real broker whose clients come by TLS: a listener SASL_SSL or SSL beside the plain one, with a test's authority."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialUpsertion,
)

from kproxy.local_kafka import jars
from kproxy.local_kafka.broker import HOST
from kproxy.local_kafka.cluster import Cluster
from tests.support.authority import Authority

NODE_ID: Final = 7
USER, PASSWORD = "alice", "correct-horse-battery-staple"
_LISTENER: Final = "listener.name.front"


@dataclass(frozen=True)
class TlsKafka:
    """One node; `bootstrap` is its listener with TLS, whose certificates are `authority`'s."""

    cluster: Cluster
    authority: Authority

    @property
    def bootstrap(self) -> str:
        return f"{HOST}:{self.cluster.brokers[NODE_ID].front_port}"


@contextmanager
def tls_kafka(authority: Authority, *, protocol: str, client_auth: str = "none") -> Iterator[TlsKafka]:
    """Yield a broker that speaks SSL, or SASL_SSL with PLAIN and SCRAM; `client_auth` is `required` for mTLS."""
    settings = {
        "listener.security.protocol.map": f"CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT,FRONT:{protocol}",
        f"{_LISTENER}.ssl.keystore.type": "PEM",
        f"{_LISTENER}.ssl.keystore.location": authority.signed("broker").both,
        f"{_LISTENER}.ssl.truststore.type": "PEM",
        f"{_LISTENER}.ssl.truststore.location": authority.file,
        f"{_LISTENER}.ssl.client.auth": client_auth,
        f"{_LISTENER}.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        f"{_LISTENER}.plain.sasl.jaas.config": (
            f'org.apache.kafka.common.security.plain.PlainLoginModule required user_{USER}="{PASSWORD}";'
        ),
        f"{_LISTENER}.scram-sha-256.sasl.jaas.config": (
            "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        ),
        f"{_LISTENER}.scram-sha-512.sasl.jaas.config": (
            "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        ),
    }
    cluster = Cluster(jars.KAFKA_4_3, (NODE_ID,), settings=settings, front=True)
    broker = cluster.brokers[NODE_ID]
    with (broker.directory / "server.properties").open("a") as properties:  # the last line of a name counts
        ports = {"CLIENT": broker.port, "FRONT": broker.front_port, "CONTROLLER": broker.controller_port}
        properties.write("advertised.listeners=" + ",".join(f"{name}://{HOST}:{port}" for name, port in ports.items()))
    with cluster:
        _add_scram_user(cluster.bootstrap)
        yield TlsKafka(cluster, authority)


def _add_scram_user(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):  # a user once in each request
        upserted: list[UserScramCredentialAlteration] = [
            UserScramCredentialUpsertion(USER, ScramCredentialInfo(mechanism, 4096), PASSWORD.encode())
        ]
        for future in admin.alter_user_scram_credentials(upserted).values():
            future.result(30)
