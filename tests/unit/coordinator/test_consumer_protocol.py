"""kproxy.coordinator.consumer_protocol: what consumers tell each other, in any version."""

from __future__ import annotations

import pytest

from kproxy.coordinator.consumer_protocol import assigned, subscribed
from kproxy.wire.generated.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition
from kproxy.wire.generated.consumer_protocol_subscription import ConsumerProtocolSubscription

VERSIONS = range(ConsumerProtocolSubscription.max_version + 1)
NEWER = b"\x7f\xff"


def said(version: int, message: ConsumerProtocolSubscription | ConsumerProtocolAssignment) -> bytes:
    return version.to_bytes(2) + message.encode(version)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_subscription(version: int) -> None:
    """Its topics are in front in every version; one to come, and what is behind them, are no matter."""
    data = said(version, ConsumerProtocolSubscription(topics=["a", "b"], user_data=b"u"))
    assert subscribed(data) == frozenset({"a", "b"})
    assert subscribed(NEWER + data[2:] + b"more") == frozenset({"a", "b"})
    assert subscribed(said(version, ConsumerProtocolSubscription())) == frozenset()


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff\xff\0\0\0\0", b"\0\0\0\0\0\1\0\5or", b"\0\0\xff\xff\xff\xff"])
def test_a_subscription_that_cannot_be_read(data: bytes) -> None:
    """It is none, which is not the same as one to nothing; the bytes may mean anything to the clients."""
    assert subscribed(data) is None


@pytest.mark.parametrize("version", range(ConsumerProtocolAssignment.max_version + 1))
def test_an_assignment(version: int) -> None:
    """Its partitions by topic, in their order."""
    partitions = [TopicPartition("a", [2, 0]), TopicPartition("b", [1])]
    data = said(version, ConsumerProtocolAssignment(partitions, b"u"))
    assert assigned(data) == {"a": [0, 2], "b": [1]}
    assert assigned(NEWER + data[2:] + b"more") == {"a": [0, 2], "b": [1]}


@pytest.mark.parametrize("data", [b"\0", b"\0\0\0\0\0\1", b"\xff\xff\0\0\0\0\0\0\0\0"])
def test_an_assignment_that_cannot_be_read(data: bytes) -> None:
    """It is none."""
    assert assigned(data) is None


def test_no_assignment() -> None:
    """A member that the leader left out has no partitions."""
    assert assigned(b"") == {}
