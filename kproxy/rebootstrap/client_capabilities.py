# This module is pure.
"""What a client can do when its cluster is gone, as far as its software's name or its requests tell."""

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
    """It does not say what software it is, or one that is not known here."""


_LIBRDKAFKA: Final = "librdkafka"
_FORGETS: Final = (2, 16)

_Releases = tuple[tuple[tuple[int, int], Capability], ...]

# Newest first: the first line that is not newer than the client holds. Java 3.8 and 3.9 have KIP-899 switched off
# unless metadata.recovery.strategy says otherwise. kafka-python 3 has no KIP-1102, but takes the brokers of a
# response that says 129. franz-go and Sarama always kept their seed brokers.
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
    """What the client of this software (name, version; KIP-511) can do.

    `metadata_version` is the highest that it used, -1 before. What it did beats what it says: kproxy offers v13 before
    every broker, so a client that knows v13 uses it, and one that stays below cannot be told.
    """
    if metadata_version >= NEWEST_METADATA:
        return Capability.REBOOTSTRAPS
    said = _by_name(*software) if software is not None else Capability.UNKNOWN
    return Capability.RECOVERS if metadata_version >= 0 and said is Capability.REBOOTSTRAPS else said


def keeps_leader_epochs(software: tuple[str, str] | None) -> bool:
    """Whether the client takes leaders of lower epochs for outdated, even where another cluster names them.

    librdkafka does until 2.16, which parts from all its brokers, and so from their epochs, when it is told to
    rebootstrap. Before 2.1 it knows no epochs, and does not mind what they are.
    """
    if software is None or _library(software[0]) != _LIBRDKAFKA:
        return False
    release = _release(software[1])
    return release is not None and release < _FORGETS


# Before, franz-go named no id but wrote one all the same (Produce v13, until 1.21.0), and said who it is on a node's
# first connection only (until 1.20), so that it would be told ids on the others.
_GOES_BY_NAMES: Final[Mapping[str, tuple[int, int]]] = MappingProxyType({"kgo": (1, 22)})
"""The first releases that can do without topic ids, of software of which that is known."""


def hides_topic_ids(software: tuple[str, str] | None, hidden_from: Collection[str]) -> bool:
    """Whether the client is to be told no topic ids and no leader epochs; `hidden_from` are names of software.

    franz-go takes topics of other ids for strangers from 1.22 on, even at another cluster, and fails for good.
    """
    if software is None or software[0] not in hidden_from:
        return False
    since, release = _GOES_BY_NAMES.get(software[0]), _release(software[1])
    return since is None or (release is not None and release >= since)


def believes_the_body(software: tuple[str, str] | None) -> bool:
    """Whether the client takes what a Metadata response says beside 129 for true, topics without partitions included.

    kafka-python does; its consumer then assigns itself nothing, for good. It is closed rather than told where the
    response cannot be the present cluster's own.
    """
    return software is not None and software[0] == "kafka-python"


def _by_name(name: str, version: str) -> Capability:
    releases, release = RELEASES.get(_library(name)), _release(version)
    if releases is None or release is None:
        return Capability.UNKNOWN
    return next(what for since, what in releases if release >= since)


def _library(name: str) -> str:
    """Confluent's bindings give their own name."""
    return _LIBRDKAFKA if name.startswith("confluent-kafka-") else name


def _release(version: str) -> tuple[int, int] | None:
    """Major and minor; of bindings, librdkafka's, which stand alone or behind their own: 2.16.1-rdkafka-2.16.0."""
    found = _VERSION.match(version)
    return None if found is None else (int(found[1]), int(found[2]))
