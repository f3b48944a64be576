"""Addresses are replaced, whatever surrounds them."""

from __future__ import annotations

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.observe.counters import ApiCounters
from kproxy.protocol.api_table import PASS_UNCHANGED, ApiPolicy, OnResponse, Route
from kproxy.protocol.context import Context
from kproxy.relay.apis.addresses import replace_all
from kproxy.wire.apis import APIS
from tests.property.wire_contents import TAGS
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, port_of


def route(key: int, version: int) -> Route:
    policy = ApiPolicy(on_response=OnResponse.WHOLE, response=replace_all)
    return Route(APIS[key], version, policy, ApiCounters(key, version))


def context(cluster: Cluster) -> Context:
    return Context(cluster, None, "client", "10.9.8.7")


def brokers(count: int) -> list[dict[str, object]]:
    return [{"NodeId": n, "Host": f"broker-{n}", "Port": 9092} for n in range(count)]


@every("version", frames.versions(3))
@pytest.mark.parametrize("count", [1, 2, 126, 127, 128, 300])
def test_any_number_of_brokers(version: int, count: int) -> None:
    """Counts on both sides of a varint's border; each broker is advertised once, for the address that was dialled."""
    cluster = Cluster()
    frame = frames.response(3, version, 1, {"Brokers": brokers(count), "ControllerId": 0})[4:]
    chunks = route(3, version).respond(context(cluster), memoryview(frame))
    assert chunks is not None
    read = frames.understood(3, version, b"".join(chunks))
    assert frames.named(read["Brokers"]) == [(n, "proxy.example", port_of(n)) for n in range(count)]
    assert cluster.advertised == [(n, f"broker-{n}", 9092, "10.9.8.7") for n in range(count)]


def test_what_is_not_an_address_is_not_copied() -> None:
    """Chunks refer to the frame where the broker's bytes stay, above all for topics."""
    topics = [{"Name": "t" * 100, "TopicId": bytes(16)} for _ in range(1000)]
    frame = memoryview(frames.response(3, 12, 1, {"Brokers": brokers(3), "Topics": topics}))[4:]
    chunks = route(3, 12).respond(context(Cluster()), frame)
    assert chunks is not None
    copied = sum(len(chunk) for chunk in chunks if not (isinstance(chunk, memoryview) and chunk.obj is frame.obj))
    assert copied < 100


@pytest.mark.parametrize("tags", [(), ((5, b"x"),), ((5, b"x" * 300), (6, b""))])
def test_tagged_fields_in_the_header(tags: tuple[tuple[int, bytes], ...]) -> None:
    """They pass, and the body is found behind them."""
    frame = frames.response(3, 12, 77, {"Brokers": brokers(1)}, tags)[4:]
    chunks = route(3, 12).respond(context(Cluster()), memoryview(frame))
    assert chunks is not None
    whole = b"".join(chunks)
    assert whole[: len(frame) - len(frames.response(3, 12, 77, {"Brokers": brokers(1)})) + 9] == frame[: len(chunks[0])]
    assert frames.understood(3, 12, whole)["Brokers"][0]["Host"] == "proxy.example"


def test_unknown_tagged_fields_around_an_address() -> None:
    """In the broker's own section and at the end of the message."""
    content = {"Brokers": [{"NodeId": 1, "Host": "b", "Port": 1, TAGS: [(90, b"broker")]}], TAGS: [(91, b"body")]}
    frame = frames.response(3, 12, 1, content)[4:]
    chunks = route(3, 12).respond(context(Cluster()), memoryview(frame))
    assert chunks is not None
    read = frames.understood(3, 12, b"".join(chunks))
    assert (read["Brokers"][0][TAGS], read[TAGS]) == ([(90, b"broker")], [(91, b"body")])


def test_no_address_no_change() -> None:
    """A response that names no node stays as it is, and nothing is learnt."""
    cluster = Cluster()
    assert route(3, 12).respond(context(cluster), memoryview(frames.response(3, 12, 1)[4:])) is None
    assert (cluster.learnt, cluster.advertised) == ([], [])


@pytest.mark.parametrize("cut", range(9))
def test_a_frame_shorter_than_its_header(cut: int) -> None:
    """It is malformed, whichever byte is missing."""
    frame = frames.response(3, 12, 1, {"Brokers": brokers(1)}, ((5, b"xyz"),))[4:]
    with pytest.raises(MalformedMessageError):
        route(3, 12).respond(context(Cluster()), memoryview(frame)[:cut])


def test_an_api_without_addresses_takes_no_such_handler() -> None:
    """It is our own mistake, found when the route is made."""
    with pytest.raises(AssertionError, match="carries no address"):
        replace_all(Route(APIS[12], 4, PASS_UNCHANGED, ApiCounters(12, 4)))
