# This module is pure (no I/O, no clock).
"""Works out what a client can do when its cluster is gone, from its software's name or its requests.

`RebootstrapService` asks at each decision, and the admin API when it lists clients.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

NEWEST_METADATA: Final = 13
"""The highest version of Metadata in Kafka's schemas, and the first whose response has room for 129 (KIP-1102)."""


class Capability(StrEnum):
    """How a client finds its way back to the bootstrap servers."""

    REBOOTSTRAPS = "rebootstraps"
    """It reads 129 (KIP-1102)."""
    RECOVERS = "recovers"
    """It cannot read 129, but bootstraps again once no node that it knows can be reached (KIP-899)."""
    TOO_OLD = "too_old"
    """It keeps the nodes that it knows: only a restart brings it back."""
    UNKNOWN = "unknown"
    """It does not name its software, or names one that is not known here."""


_LIBRDKAFKA: Final = "librdkafka"
_FORGETS: Final = (2, 16)

_Releases = tuple[tuple[tuple[int, int], Capability], ...]

# Newest first: the first line that is not newer than the client applies. Java 3.8 and 3.9 have KIP-899 switched off
# unless metadata.recovery.strategy says otherwise. kafka-python 3 has no KIP-1102, but takes the brokers of a response
# that carries 129. franz-go and Sarama always kept their seed brokers.
RELEASES: Final[Mapping[str, _Releases]] = MappingProxyType(
    {
        "apache-kafka-java": (
            ((4, 0), Capability.REBOOTSTRAPS),
            ((3, 8), Capability.RECOVERS),
            ((0, 0), Capability.TOO_OLD),
        ),
        _LIBRDKAFKA: (
            ((2, 11), Capability.REBOOTSTRAPS),
            ((2, 10), Capability.RECOVERS),
            ((0, 0), Capability.TOO_OLD),
        ),
        "kgo": (((1, 19), Capability.REBOOTSTRAPS), ((0, 0), Capability.RECOVERS)),
        "sarama": (((0, 0), Capability.RECOVERS),),
        "kafka-python": (((3, 0), Capability.REBOOTSTRAPS), ((0, 0), Capability.UNKNOWN)),
    }
)

_VERSION: Final = re.compile(r"(?:.*rdkafka-)?v?([0-9]{1,6})\.([0-9]{1,6})")


def capability(software: tuple[str, str] | None, metadata_version: int) -> Capability:
    """Return what a client of this software (name, version; KIP-511) can do.

    `metadata_version` is the highest that it used, -1 before its first. What it did outweighs its name: kproxy
    advertises v13 for every broker, so a client that knows v13 uses it, and one that stays below cannot be notified.
    """
    if metadata_version >= NEWEST_METADATA:
        return Capability.REBOOTSTRAPS
    said = _by_name(*software) if software is not None else Capability.UNKNOWN
    return Capability.RECOVERS if metadata_version >= 0 and said is Capability.REBOOTSTRAPS else said


def keeps_leader_epochs(software: tuple[str, str] | None) -> bool:
    """True when the client takes a leader with a lower epoch for outdated, even at another cluster.

    librdkafka before 2.16 does. From 2.16 on, a 129 makes it drop all its brokers, and their epochs with them. Before
    2.1 it knows no epochs, so they do not matter.
    """
    if software is None or _library(software[0]) != _LIBRDKAFKA:
        return False
    release = _release(software[1])
    return release is not None and release < _FORGETS


# Earlier franz-go knew no id but wrote one all the same (Produce v13, until 1.21.0), and named its software on a node's
# first connection only (until 1.20), so that it would get ids on the others.
_GOES_BY_NAMES: Final[Mapping[str, tuple[int, int]]] = MappingProxyType({"kgo": (1, 22)})
"""The first releases that work without topic ids, of software where that is known."""


def hides_topic_ids(software: tuple[str, str] | None, hidden_from: Collection[str]) -> bool:
    """True when the client gets no topic ids and no leader epochs; `hidden_from` holds names of software.

    franz-go from 1.22 on takes a topic with another id for another topic, even at another cluster, and fails for good.
    """
    if software is None or software[0] not in hidden_from:
        return False
    since, release = _GOES_BY_NAMES.get(software[0]), _release(software[1])
    return since is None or (release is not None and release >= since)


def believes_the_body(software: tuple[str, str] | None) -> bool:
    """True when the client believes what a Metadata response says beside 129, topics without partitions included.

    kafka-python does; its consumer then assigns itself nothing, for good. Where the response cannot be the present
    cluster's own, its connection is closed without a 129.
    """
    return software is not None and software[0] == "kafka-python"


def _by_name(name: str, version: str) -> Capability:
    releases, release = RELEASES.get(_library(name)), _release(version)
    if releases is None or release is None:
        return Capability.UNKNOWN
    return next(what for since, what in releases if release >= since)


def _library(name: str) -> str:
    """Return the library's name: Confluent's bindings give their own."""
    return _LIBRDKAFKA if name.startswith("confluent-kafka-") else name


def _release(version: str) -> tuple[int, int] | None:
    """Return major and minor; for bindings librdkafka's, given alone or after their own: 2.16.1-rdkafka-2.16.0."""
    found = _VERSION.match(version)
    return None if found is None else (int(found[1]), int(found[2]))
