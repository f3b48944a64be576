"""Brokers at which clients log in, without kproxy: each has a listener with SASL, and advertises it as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from confluent_kafka.admin import AdminClient, ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from kproxy.local_kafka import jars
from kproxy.local_kafka.broker import HOST
from kproxy.local_kafka.cluster import Cluster
from tests.support.client_releases import PLAIN, SCRAM, Login
from tests.support.secured import PASSWORD

_USER: Final = "alice"
_MODULES: Final = "org.apache.kafka.common.security"
_LISTENER: Final = "listener.name.front"
# None: each advertises its listeners as they are. Nobody has to log in again: old clients cannot.
_SETTINGS: Final[Mapping[str, object]] = {
    "advertised.listeners": None,
    "listener.security.protocol.map": "CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT,FRONT:SASL_PLAINTEXT",
    f"{_LISTENER}.plain.sasl.jaas.config": f'{_MODULES}.plain.PlainLoginModule required user_{_USER}="{PASSWORD}";',
    f"{_LISTENER}.scram-sha-256.sasl.jaas.config": f"{_MODULES}.scram.ScramLoginModule required;",
}


@dataclass(frozen=True)
class LoggingIn:
    """Brokers with a user; `mechanisms` are those by which it can log in."""

    cluster: Cluster
    mechanisms: tuple[str, ...]

    @property
    def bootstrap(self) -> str:
        """`host:port,...` of all listeners with SASL."""
        return ",".join(f"{HOST}:{broker.front_port}" for broker in self.cluster.brokers.values())

    def login(self, mechanism: str) -> Login:
        """Return how the user logs in."""
        assert mechanism in self.mechanisms, f"{mechanism} at {self.cluster.release.name}"
        return Login(mechanism, _USER, PASSWORD)


def mechanisms(release: jars.Release) -> tuple[str, ...]:
    """Return those of its brokers: without ZooKeeper, there is SCRAM since 3.5 (KIP-900)."""
    return (PLAIN,) if release is jars.KAFKA_2_8 else (PLAIN, SCRAM)


@contextmanager
def logging_in(
    release: jars.Release, node_ids: Sequence[int], settings: Mapping[str, object] = MappingProxyType({})
) -> Iterator[LoggingIn]:
    """Yield the brokers with their user. `settings` come on top of their own."""
    enabled = mechanisms(release)
    own = {**_SETTINGS, f"{_LISTENER}.sasl.enabled.mechanisms": ",".join(enabled)}
    with Cluster(release, node_ids, settings={**own, **settings}, front=True) as cluster:
        if SCRAM in enabled:
            _add_scram_user(cluster)
        yield LoggingIn(cluster, enabled)


def _add_scram_user(cluster: Cluster) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    credential = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    upserted = UserScramCredentialUpsertion(_USER, credential, PASSWORD.encode())
    admin.alter_user_scram_credentials([upserted])[_USER].result(30)
