"""A real broker that authenticates clients: a listener with SASL beside the plain one, and its own view of clients."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialUpsertion,
)

from kproxy.local_kafka import jars, java
from kproxy.local_kafka.broker import HOST
from kproxy.local_kafka.cluster import Cluster

NODE_ID = 7
PASSWORD = "correct-horse-battery-staple"
"""Every user's password, by PLAIN and by SCRAM; it must be found nowhere."""
USERS = ("alice", "bob", "a,b=c")
_PLAIN = " ".join(f'user_{user}="{PASSWORD}"' for user in USERS if user.isalpha())
_LISTENER = "listener.name.front"
_SETTINGS = {
    "listener.security.protocol.map": "CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT,FRONT:SASL_PLAINTEXT",
    f"{_LISTENER}.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
    f"{_LISTENER}.plain.sasl.jaas.config": (
        f"org.apache.kafka.common.security.plain.PlainLoginModule required {_PLAIN};"
    ),
    f"{_LISTENER}.scram-sha-256.sasl.jaas.config": (
        "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    ),
    f"{_LISTENER}.scram-sha-512.sasl.jaas.config": (
        "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    ),
    f"{_LISTENER}.oauthbearer.sasl.jaas.config": (
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
        ' unsecuredLoginStringClaim_sub="broker";'
    ),
    f"{_LISTENER}.connections.max.reauth.ms": "3000",
}
_LOGGERS: Final = "kafka.request.logger=DEBUG,kafka.network.DataPlaneAcceptor=DEBUG"
_REQUEST = re.compile(r"Completed request:(\{.*\})")


@dataclass(frozen=True)
class Secured:
    """One node; `bootstrap` is its listener with SASL, `plain` the one without."""

    cluster: Cluster

    @property
    def bootstrap(self) -> str:
        return f"{HOST}:{self.cluster.brokers[NODE_ID].front_port}"

    @property
    def plain(self) -> str:
        return self.cluster.bootstrap

    @property
    def log(self) -> str:
        """What the broker has printed."""
        return self.cluster.brokers[NODE_ID].log.read_text(errors="replace")

    @property
    def accepted(self) -> int:
        """How many connections the listener with SASL has accepted, by the broker's log."""
        # `localhost/127.0.0.1:1`, where SASL has looked up the address before the acceptor came to write the line.
        return len(re.findall(rf"Accepted connection from \S+ on \S*/{re.escape(self.bootstrap)} ", self.log))

    def principals(self, client_id: str) -> set[str]:
        """Return a client's principals by the broker's request log, which is independent of kproxy."""
        requests = (json.loads(found) for found in _REQUEST.findall(self.log))
        return {one["principal"] for one in requests if one["requestHeader"].get("clientId") == client_id}


AUTHORIZES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
"""Settings of a broker with ACLs: whoever comes to its plain listener may do everything, a user what is permitted."""


@contextmanager
def secured(
    settings: Mapping[str, str] = MappingProxyType({}), options: tuple[str, ...] = java.QUICK
) -> Iterator[Secured]:
    """Yield the broker with its users, and with its logs of requests and connections on.

    `settings` come on top of its own, `options` are the JVM's.
    """
    cluster = Cluster(jars.KAFKA_4_3, (NODE_ID,), settings={**_SETTINGS, **settings}, front=True, options=options)
    broker = cluster.brokers[NODE_ID]
    with (broker.directory / "server.properties").open("a") as properties:  # the last line of a name counts
        ports = {"CLIENT": broker.port, "FRONT": broker.front_port, "CONTROLLER": broker.controller_port}
        properties.write("advertised.listeners=" + ",".join(f"{name}://{HOST}:{port}" for name, port in ports.items()))
    with cluster:
        found = Secured(cluster)
        _add_scram_users(found)
        cluster.run(
            "kafka.admin.ConfigCommand",
            *("--bootstrap-server", found.plain, "--alter", "--add-config", _LOGGERS),
            *("--entity-type", "broker-loggers", "--entity-name", str(NODE_ID)),
        )
        yield found


_VALIDATOR: Final = "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"


@contextmanager
def validating(issuer: str, audience: str, keys_url: str) -> Iterator[Secured]:
    """Yield a broker that checks tokens with the keys at a URL: signature, issuer, audience, times."""
    settings = {
        f"{_LISTENER}.oauthbearer.sasl.jaas.config": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;"
        ),
        f"{_LISTENER}.oauthbearer.sasl.server.callback.handler.class": _VALIDATOR,
        f"{_LISTENER}.sasl.oauthbearer.jwks.endpoint.url": keys_url,
        f"{_LISTENER}.sasl.oauthbearer.expected.issuer": issuer,
        f"{_LISTENER}.sasl.oauthbearer.expected.audience": audience,
        f"{_LISTENER}.connections.max.reauth.ms": "3600000",
    }
    allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={keys_url}"
    with secured(settings, (*java.QUICK, allowed)) as broker:
        yield broker


def unsecured_token(user: str) -> str:
    """Return a JWT of an hour without a signature, which the broker accepts (KIP-255: for tests alone)."""
    now = time.time()
    parts = ({"alg": "none"}, {"sub": user, "iat": now - 10, "exp": now + 3600})
    coded = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return ".".join((*coded, ""))


def _add_scram_users(broker: Secured) -> None:
    admin = AdminClient({"bootstrap.servers": broker.plain, "log_level": 0})
    for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):  # a user once in each request
        credential = ScramCredentialInfo(mechanism, 4096)
        upserted: list[UserScramCredentialAlteration] = [
            UserScramCredentialUpsertion(user, credential, PASSWORD.encode()) for user in USERS
        ]
        for future in admin.alter_user_scram_credentials(upserted).values():
            future.result(30)
