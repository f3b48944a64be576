"""The software of the sample's clients: what it is called, what it can, and whether it pushes its metrics (KIP-714)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType
from typing import Final, NamedTuple

from kproxy.admin.inventory import rebootstrap


class Dialect(Enum):
    """Whose metrics a client pushes; each library has its own choice and form of them."""

    JAVA = auto()
    LIBRDKAFKA = auto()
    FRANZ_GO = auto()


class Software(NamedTuple):
    """A library in a version, as clients name it (KIP-511)."""

    name: str | None
    version: str | None
    metadata_version: int
    """The highest version of Metadata that it uses."""
    dialect: Dialect | None = None
    """None: it does not push its metrics."""

    @property
    def rebootstrap(self) -> str:
        """What brings it back when its cluster is gone, as kproxy judges it."""
        said = None if self.name is None or self.version is None else (self.name, self.version)
        return str(rebootstrap(said, self.metadata_version))

    @property
    def names_its_cluster(self) -> bool:
        """It says in ApiVersions v5 which cluster and node it means (KIP-1242): of those here, franz-go does."""
        return self.dialect is Dialect.FRANZ_GO


def java(version: str) -> Software:
    """The Java client; it pushes from 3.7 on."""
    return Software("apache-kafka-java", version, 13 if version >= "4" else 12, Dialect.JAVA)


def librdkafka(version: str, binding: str | None = None) -> Software:
    """Librdkafka, or a binding of Confluent's of the same version; it pushes from 2.5 on."""
    name, said = (f"confluent-kafka-{binding}", f"{version}-rdkafka-{version}") if binding else ("librdkafka", version)
    return Software(name, said, 13 if int(version.split(".")[1]) >= 11 else 12, Dialect.LIBRDKAFKA)


JAVA: Final = java("4.3.1")
LIBRDKAFKA: Final = librdkafka("2.13.0")
FRANZ_GO: Final = Software("kgo", "v1.22.2", 13, Dialect.FRANZ_GO)
SARAMA: Final = Software("sarama", "v1.46.1", 10)
HEALTHY: Final[Mapping[Software, float]] = MappingProxyType(
    {
        JAVA: 15,
        java("4.2.0"): 20,
        java("4.1.2"): 12,
        java("3.9.2"): 8,
        LIBRDKAFKA: 5,
        librdkafka("2.13.0", "python"): 10,
        librdkafka("2.12.1", "go"): 8,
        FRANZ_GO: 8,
        SARAMA: 7,
        Software("kafka-python", "3.0.1", 13): 4,
        Software(None, None, 6): 3,
    }
)
"""Versions without a known trouble, and how frequent each is; the last one does not say what it is, as kafkajs."""
