"""Which topics clients use, as their Metadata requests say: what is noted, for how long, and how much at most."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.protocol.api_table import ApiTable
from kproxy.protocol.composition import Room, compose
from kproxy.rebootstrap.topics_in_use import REMEMBERED, TopicsInUse, policies
from kproxy.wire.generated.api_keys import ApiKey
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, Relay

METADATA = ApiKey.METADATA
FIRST_WITH_IDS = 10


class Seen:
    """A connection whose Metadata requests are looked at, at `now`."""

    def __init__(self) -> None:
        self.now = 0.0
        self.topics = TopicsInUse(lambda: self.now)
        cluster = Cluster()
        table = ApiTable(cluster.counters, compose([Room("topics", policies(self.topics))]))
        self.relay = Relay(cluster, table=table)
        self._number = 0

    def ask(self, version: int, names: list[str | None] | None) -> bytes:
        """Return the next request for these topics."""
        self._number += 1
        topics = None if names is None else [{"Name": name} for name in names]
        return frames.request(METADATA, version, self._number, {"Topics": topics})

    def send(self, data: bytes, *pieces: int) -> None:
        """Send a request, in pieces that end at these bytes; it must come out as it is."""
        before = len(self.relay.broker.data)
        for begin, end in zip((0, *pieces), (*pieces, len(data)), strict=True):
            self.relay.feed("client", data[begin:end])
        assert (self.relay.reason, bytes(self.relay.broker.data[before:])) == (None, data)


@every("version", frames.versions(METADATA))
def test_what_is_asked_for(version: int) -> None:
    """By name, in every version."""
    seen = Seen()
    seen.send(seen.ask(version, ["orders", "grüße"]))
    assert seen.topics.names() == ["grüße", "orders"]


@every("version", [version for version in frames.versions(METADATA) if version])
def test_all_topics_or_none(version: int) -> None:
    """Say nothing of those that are used."""
    seen = Seen()
    seen.send(seen.ask(version, None))
    seen.send(seen.ask(version, []))
    assert seen.topics.names() == []


@pytest.mark.parametrize("version", [version for version in frames.versions(METADATA) if version >= FIRST_WITH_IDS])
def test_topics_by_id(version: int) -> None:
    """Ids are left out: another cluster does not know them."""
    seen = Seen()
    seen.send(seen.ask(version, [None, "orders"]))
    assert seen.topics.names() == ["orders"]


@pytest.mark.parametrize("version", [1, 9, 13])
def test_what_is_cut(version: int) -> None:
    """A head that did not come in one piece is not read; the client asks again."""
    seen = Seen()
    data = seen.ask(version, ["orders", "payments"])
    seen.send(data, len(data) - 5)
    assert seen.topics.names() == []


@pytest.mark.parametrize("names", [["x" * 250, "orders"], ["", "orders"]])
def test_names_that_no_topic_has(names: list[str | None]) -> None:
    """Are left out."""
    seen = Seen()
    seen.send(seen.ask(12, names))
    assert seen.topics.names() == ["orders"]


def test_thousands() -> None:
    """Who asks for so many is no client that uses them all."""
    seen = Seen()
    seen.send(seen.ask(12, [f"t{number}" for number in range(1001)]))
    assert seen.topics.names() == []


@pytest.mark.parametrize("damage", [b"\xff" * 4, b"\x00\x00\x00\x02\xff\xff", b"\x00\x00\x00\x01\x00\x02\xff\xff"])
def test_what_is_no_request(damage: bytes) -> None:
    """It passes, and the broker says what is wrong with it."""
    seen = Seen()
    head = frames.request(METADATA, 1, 1, {"Topics": None})[4:-4]
    body = head + damage
    seen.send(len(body).to_bytes(4, "big") + body)
    assert seen.topics.names() == []


def test_used_for_a_while() -> None:
    """A topic that nobody has asked for in a quarter of an hour is none that is used."""
    seen = Seen()
    seen.topics.note(["old", "asked for again"])
    seen.now = REMEMBERED
    seen.topics.note(["asked for again"])
    assert seen.topics.names() == ["asked for again", "old"]
    seen.now += 1
    assert seen.topics.names() == ["asked for again"]


def test_memory() -> None:
    """It has a bound: those that were asked for the longest ago are forgotten."""
    now: list[Any] = [0.0]
    topics = TopicsInUse(lambda: now[0], capacity=2)
    topics.note(["a", "b"])
    topics.note(["a"])
    topics.note(["c"])
    assert topics.names() == ["a", "c"]
