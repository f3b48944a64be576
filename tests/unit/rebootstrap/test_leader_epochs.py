"""Leader epochs and topic ids are removed in every version that has them; compared with the generated codec."""

from __future__ import annotations

import dataclasses
import struct
from typing import TypeVar

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.rebootstrap.leader_epochs import FIRST_LEADER_EPOCH, forget
from kproxy.wire.generated.metadata_response import MetadataResponse
from kproxy.wire.primitives import INT32, ZERO_UUID
from tests.support.every import every
from tests.unit.rebootstrap.test_topics import MESSAGES, OPERATIONS, behind_brokers, message, partition, topic
from tests.unit.relay import frames

T = TypeVar("T")
VERSIONS = frames.versions(3, FIRST_LEADER_EPOCH)


def without_epochs(response: MetadataResponse) -> MetadataResponse:
    """Return the response as the client must read it."""
    topics = [
        dataclasses.replace(one, partitions=[dataclasses.replace(found, leader_epoch=-1) for found in one.partitions])
        for one in response.topics
    ]
    return dataclasses.replace(response, topics=topics)


def without_ids(response: MetadataResponse) -> MetadataResponse:
    """Return the response as a client must read it that gets no epochs and no topic ids."""
    topics = [dataclasses.replace(one, topic_id=ZERO_UUID) for one in response.topics]
    return without_epochs(dataclasses.replace(response, topics=topics))


def as_of(response: MetadataResponse, version: int) -> MetadataResponse:
    """Return the response without what a version lacks: tagged fields, topics' ids and operations, null names."""
    topics = [
        dataclasses.replace(
            one,
            name=one.name or ("" if version < 12 else None),
            topic_id=one.topic_id if version >= 10 else ZERO_UUID,
            topic_authorized_operations=one.topic_authorized_operations if version >= 8 else OPERATIONS,
            partitions=[untagged(found, version) for found in one.partitions],
        )
        for one in response.topics
    ]
    brokers = [untagged(broker, version) for broker in response.brokers]
    return untagged(
        dataclasses.replace(response, topics=[untagged(one, version) for one in topics], brokers=brokers), version
    )


def untagged(part: T, version: int) -> T:
    return part if version >= 9 else dataclasses.replace(part, unknown_tags=())  # type: ignore[type-var]


def forgotten(body: bytes, version: int, *, topic_ids: bool = False) -> bytes:
    changed = bytearray(body)
    forget(changed, behind_brokers(body, version), version, topic_ids=topic_ids)
    return bytes(changed)


@every("version", VERSIONS)
@every("kind", MESSAGES)
def test_every_partition_has_a_leader_of_no_epoch(kind: str, version: int) -> None:
    """Nothing else changes, byte by byte: names, ids, replicas, operations, tagged fields, codes of topics."""
    response = as_of(MESSAGES[kind], version)
    sent = response.encode(version)
    assert forgotten(sent, version) == without_epochs(response).encode(version)


@every("version", VERSIONS)
@every("kind", MESSAGES)
def test_no_topic_has_an_id(kind: str, version: int) -> None:
    """Ids are zeros from v10 on, the first version with ids, and epochs are -1; nothing else changes, byte by byte."""
    response = as_of(MESSAGES[kind], version)
    assert forgotten(response.encode(version), version, topic_ids=True) == without_ids(response).encode(version)


@every("version", VERSIONS)
def test_what_has_neither_stays(version: int) -> None:
    """A broker's response without ids and epochs stays, and one that has lost both already."""
    sent = without_ids(as_of(message(topic(), topic("payments")), version)).encode(version)
    assert forgotten(sent, version, topic_ids=True) == sent


def test_v6_has_none() -> None:
    """v7 is the first version with epochs: v6 is the same for any epoch."""
    response = as_of(message(topic()), 6)
    assert response.encode(6) == without_epochs(response).encode(6)
    assert response.encode(7) != without_epochs(response).encode(7)


@pytest.mark.parametrize("topic_ids", [False, True])
@every("version", VERSIONS)
def test_a_response_cut_short(version: int, topic_ids: bool) -> None:
    """An end anywhere before its topics' end is an error, and nothing is written beyond the message."""
    response = as_of(message(topic(), topic("payments")), version)
    body = response.encode(version)
    start = behind_brokers(body, version)
    behind_topics = 1 if version >= 9 else 0
    behind_topics += 4 if 8 <= version <= 10 else 0
    behind_topics += 2 if version >= 13 else 0
    for end in range(start, len(body) - behind_topics):
        changed = bytearray(body[:end])
        with pytest.raises((IndexError, struct.error, MalformedMessageError)):
            forget(changed, start, version, topic_ids=topic_ids)
        assert len(changed) == end


@pytest.mark.parametrize("version", [8, 9])
def test_lists_of_no_nodes(version: int) -> None:
    """A null array counts as an empty one, though the schema has none; the walk does not go back."""
    response = message(dataclasses.replace(topic(), partitions=[partition(replicas=0)]))
    body = bytearray(as_of(response, version).encode(version))
    nodes = b"\0\0\0\0" * 3 if version == 8 else b"\x01\x01\x01"
    null = b"\xff\xff\xff\xff" * 3 if version == 8 else b"\0\0\0"
    start = behind_brokers(body, version)
    epoch = body.index(INT32.pack(7), start)
    at = body.index(nodes, epoch)
    body[at : at + len(nodes)] = null
    changed = bytearray(body)
    forget(changed, start, version)
    assert changed == body[:epoch] + INT32.pack(-1) + body[epoch + 4 :]
