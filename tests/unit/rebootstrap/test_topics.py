"""Where the topics of Metadata end, and which they are; compared with the generated codec."""

from __future__ import annotations

import dataclasses
from uuid import UUID

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.rebootstrap.topics import (
    answered,
    asked,
    asks_by_id,
    error_code_at,
    with_topics,
)
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from kproxy.wire.generated.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kproxy.wire.primitives import ZERO_UUID, Tags
from kproxy.wire.skim import response_skim
from kproxy.wire.walk import not_at_end
from tests.support.every import every

OPERATIONS = -2147483648
"""Authorized operations that the client did not ask for."""
MIMICRY: Tags = ((9, b"\x80\0\0\0\0\0"),)
"""A tagged field that ends as the last topic of a message without one does."""


def partition(index: int = 0, replicas: int = 3, tags: Tags = ()) -> MetadataResponsePartition:
    nodes = list(range(replicas))
    return MetadataResponsePartition(3, index, 1, 7, nodes, nodes[:1], nodes[1:], unknown_tags=tags)


def topic(
    name: str | None = "orders", partitions: int = 2, *, operations: int = OPERATIONS, tags: Tags = ()
) -> MetadataResponseTopic:
    found = [partition(number) for number in range(partitions)]
    return MetadataResponseTopic(0, name, UUID(int=5), True, found, operations, tags)


def message(*topics: MetadataResponseTopic, cluster_id: str | None = "c", tags: Tags = ()) -> MetadataResponse:
    brokers = [MetadataResponseBroker(7, "broker", 9092, "rack", tags)]
    return MetadataResponse(brokers=brokers, cluster_id=cluster_id, topics=list(topics), unknown_tags=tags)


MESSAGES = {
    "no topic": message(),
    "no cluster id": message(cluster_id=None),
    "a long cluster id": message(topic(), cluster_id="c" * 300),
    "tagged fields of its own": message(topic(), tags=((5, b"five"), (900, b""))),
    "tagged fields of its own, and no topic": message(tags=((5, b"\0"),)),
    "tagged fields of its own that end in zeros": message(topic(), tags=((5, bytes(8)),)),
    "tagged fields of its own that look like a topic's end": message(topic(), tags=MIMICRY),
    "tagged fields of its topics": message(topic(tags=((5, b"five"),)), topic(tags=((6, b"\0\0"),))),
    "tagged fields of its partitions": message(
        MetadataResponseTopic(partitions=[partition(tags=((5, b"five"),)), partition()])
    ),
    "many replicas": message(MetadataResponseTopic(partitions=[partition(replicas=200), partition(replicas=0)])),
    "no partition": message(topic(partitions=0)),
    "no name": message(topic(name=None)),
    "long names": message(topic("n" * 249), topic("m" * 126), topic("l" * 127)),
    "operations that were asked for": message(topic(operations=3576), topic(operations=0)),
    "a thousand partitions": message(topic(partitions=1000)),
    "four hundred topics": message(*(topic(f"t{number}", 1) for number in range(400))),
    "large, and its last topic's operations": message(topic(partitions=1000), topic(operations=3576)),
    "large, and its last topic's tags": message(topic(partitions=1000, tags=((5, b"x"),))),
    "large, and tagged fields of its own": message(topic(partitions=1000), tags=((5, b"x"), (6, bytes(9)))),
}


def behind_brokers(body: bytes | bytearray, version: int) -> int:
    skim = response_skim(3, version)
    assert skim is not None
    return skim(body, 0, len(body)).end


@every("kind", MESSAGES)
def test_the_place_of_the_error_code(kind: str) -> None:
    """rebootstrap.md: "the response only appends one int16": put in there v12 is v13, taken out there v13 is v12."""
    response = MESSAGES[kind]
    old = response.encode(12)
    place = error_code_at(old, behind_brokers(old, 12), 12)
    for code in (0, 129, -1):
        new = dataclasses.replace(response, error_code=code).encode(13)
        assert old[:place] + code.to_bytes(2, "big", signed=True) + old[place:] == new
        assert error_code_at(new, behind_brokers(new, 13), 13) == place
        assert MetadataResponse.decode(new, 13) == dataclasses.replace(response, error_code=code)


def test_a_large_message_is_not_walked() -> None:
    """Its last six bytes give the place: broken partitions before them pass unnoticed, but not in small ones."""
    large, small = (bytearray(message(topic(partitions=count)).encode(12)) for count in (1000, 10))
    for body in (large, small):
        start = behind_brokers(body, 12)
        body[start + 40 : start + 80] = b"\xff" * 40  # no length at all
    assert error_code_at(large, behind_brokers(large, 12), 12) == len(large) - 1
    with pytest.raises((IndexError, MalformedMessageError)):
        error_code_at(small, behind_brokers(small, 12), 12)


@every("kind", MESSAGES)
def test_the_topics_of_a_response(kind: str) -> None:
    """They have names, ids and whether they are internal; they are encoded as topics without a leader."""
    response = MESSAGES[kind]
    body = response.encode(12)
    expected = [
        MetadataResponseTopic(ErrorCode.LEADER_NOT_AVAILABLE, one.name, one.topic_id, one.is_internal)
        for one in response.topics
    ]
    start = behind_brokers(body, 12)
    assert MetadataResponse.decode(response_of(answered(body, start)), 13).topics == expected
    without_ids = [dataclasses.replace(one, topic_id=ZERO_UUID) for one in expected]
    assert MetadataResponse.decode(response_of(answered(body, start, topic_ids=False)), 13).topics == without_ids


def response_of(topics: object) -> bytes:
    """Return a response with these topics, which are bytes so far."""
    assert isinstance(topics, list)
    return with_topics(MetadataResponse(error_code=129).encode(13), topics)


@pytest.mark.parametrize("tags", [(), ((5, b"five"), (6, b""))])
@pytest.mark.parametrize("count", [0, 1, 126, 127, 128, 500])
def test_the_topics_of_a_request(count: int, tags: Tags) -> None:
    """By name or by id (KIP-516), any number of them; the request's other fields do not matter."""
    wanted = [
        MetadataRequestTopic(UUID(int=number), f"t{number}" * (1 + number % 100) if number % 3 else None, tags)
        for number in range(count)
    ]
    body = b"header" + MetadataRequest(topics=wanted, allow_auto_topic_creation=False, unknown_tags=tags).encode(13)
    found = asked(body, 6)
    assert found is not None
    read = MetadataResponse.decode(response_of(found), 13)
    assert read.topics == [
        MetadataResponseTopic(ErrorCode.LEADER_NOT_AVAILABLE, one.name, one.topic_id) for one in wanted
    ]
    assert read.error_code == 129


def test_all_topics_are_asked_for() -> None:
    """A null array does so."""
    assert asked(MetadataRequest(topics=None).encode(13), 0) is None


@pytest.mark.parametrize(
    ("topics", "by_id"),
    [
        (None, False),
        ([], False),
        ([MetadataRequestTopic(name="orders")], False),
        ([MetadataRequestTopic(name="")], False),
        ([MetadataRequestTopic(UUID(int=1), None)], True),
        ([MetadataRequestTopic(UUID(int=1 << 127), None), MetadataRequestTopic(UUID(int=2), None)], True),
        ([MetadataRequestTopic(UUID(int=1), "orders")], True),
    ],
)
def test_whether_ids_are_asked_for(topics: list[MetadataRequestTopic] | None, by_id: bool) -> None:
    """A name has the zero id beside it."""
    assert asks_by_id(b"header" + MetadataRequest(topics=topics).encode(13), 6) is by_id


@pytest.mark.parametrize("kind", ["tagged fields of its topics", "many replicas", "tagged fields of its own"])
def test_a_response_cut_short(kind: str) -> None:
    """Wherever it ends, the walk stops with an error, and never beyond the message."""
    body = MESSAGES[kind].encode(12)
    start = behind_brokers(body, 12)
    for end in range(start, error_code_at(body, start, 12) + 1):
        with pytest.raises((IndexError, MalformedMessageError)):
            error_code_at(body[:end], start, 12)


def test_a_request_cut_short() -> None:
    """As above, up to the array's end."""
    body = MetadataRequest(topics=[MetadataRequestTopic(UUID(int=1), "orders", ((5, b"five"),))] * 3).encode(13)
    array = len(body) - 3
    assert asked(body[:array], 0) is not None
    for end in range(array):
        with pytest.raises((IndexError, type(not_at_end()))):
            asked(body[:end], 0)
