"""kproxy.quotas.policies: clients are told for how long they are throttled, whatever the cut of the bytes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kproxy.cluster.policies import composed
from kproxy.config.byte_rates import PrincipalByteRate
from kproxy.protocol.api_table import ApiPolicy, ApiTable
from kproxy.protocol.composition import Room, compose
from kproxy.quotas.byte_rates import ByteRates
from kproxy.quotas.policies import policies
from kproxy.relay.apis import POLICIES
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.produce_response import ProduceResponse
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import CUTS, Cluster, Relay, whole

ENDPOINT = {"node_id": 7, "host": "broker-7.internal", "port": 9092, "rack": None}


def relay(rate: int = 1) -> Relay:
    """A connection of a virtual cluster with byte rates for everybody."""
    cluster = Cluster()
    rates = ByteRates([PrincipalByteRate(principal=".*", produce=rate, fetch=rate)])
    return Relay(cluster, table=ApiTable(cluster.counters, composed(cluster, {}, None, rates=rates)))


def fetching(rate: int) -> Relay:
    """A connection whose requests wait, by the clock of the test."""
    made: list[Relay] = []
    rates = ByteRates([PrincipalByteRate(principal=".*", fetch=rate)])
    cluster = Cluster()
    rooms = Room("quotas", policies(rates, lambda: made[0].now)), Room("relay", POLICIES)
    made.append(Relay(cluster, table=ApiTable(cluster.counters, compose(rooms))))
    made[0].waits = True
    return made[0]


def fetch(correlation_id: int, key: int = ApiKey.FETCH) -> bytes:
    """A Fetch request."""
    return frames.request(key, 12 if key == ApiKey.FETCH else 1, correlation_id)


def produce(version: int, correlation_id: int = 1) -> bytes:
    """A Produce request without records."""
    return frames.request(ApiKey.PRODUCE, version, correlation_id, {"Acks": 1})


@every("version", frames.versions(ApiKey.PRODUCE, 1))
def test_a_produce_response_tells_it(version: int) -> None:
    """The broker's response stays as it is otherwise; the next one, within the rate, tells nothing."""
    asked = produce(version)
    for cut in (whole, *CUTS):
        found = relay().play(
            [("client", asked), ("broker", frames.response(ApiKey.PRODUCE, version, 1, {"ThrottleTimeMs": 5}))], cut
        )
        told = ProduceResponse.decode(memoryview(found.client.data)[_body(version, ApiKey.PRODUCE) :], version)
        assert told.throttle_time_ms == 10_000
        assert found.throttled == [10.0]
        assert found.broker.data == asked


def test_a_produce_request_within_the_rate() -> None:
    """It is not touched."""
    answer = frames.response(ApiKey.PRODUCE, 9, 1, {"ThrottleTimeMs": 5})
    found = relay(10**6).play([("client", produce(9)), ("broker", answer)], whole)
    assert (bytes(found.client.data), found.throttled) == (answer, [])


def test_the_next_produce_response_tells_nothing() -> None:
    """Each throttle time is told once."""
    answer = frames.response(ApiKey.PRODUCE, 9, 1)
    found = relay(60).play([("client", produce(9)), ("broker", answer)], whole)
    found.now += 100
    second = frames.response(ApiKey.PRODUCE, 9, 2)
    before = len(found.client.data)
    found.play([("client", produce(9, 2)), ("broker", second)], whole)
    assert found.client.data[before:] == second


@every("version", frames.versions(ApiKey.FETCH, 1))
def test_a_fetch_response_tells_it(version: int) -> None:
    """Whole or in parts, with or without addresses at its end; what the broker tells may be longer."""
    for told, expected in ((5, 10_000), (20_000, 20_000)):
        answer = frames.response(ApiKey.FETCH, version, 1, {"ThrottleTimeMs": told})
        for cut in (whole, *CUTS):
            found = relay().play(
                [("client", frames.request(ApiKey.FETCH, version, 1)), ("broker", answer)],
                cut,
            )
            body = _body(version, ApiKey.FETCH)
            assert int.from_bytes(found.client.data[body : body + 4], "big") == expected
            assert found.throttled == [10.0]
            assert found.client.data[:body] == answer[:body]
            assert found.client.data[body + 4 :] == answer[body + 4 :]


@pytest.mark.parametrize("key", [ApiKey.PRODUCE, ApiKey.FETCH])
def test_the_first_clients_are_throttled_and_not_told(key: int) -> None:
    """In v0 there is no room for it: the client is not read for as long, and its response is the broker's."""
    asked = produce(0) if key == ApiKey.PRODUCE else frames.request(key, 0, 1)
    answer = frames.produced(0, 1) if key == ApiKey.PRODUCE else frames.fetched(0, 1, [(0, b"r" * 90)])
    for cut in (whole, *CUTS):
        found = relay().play([("client", asked), ("broker", answer)], cut)
        assert (bytes(found.client.data), found.throttled) == (answer, [10.0])


@pytest.mark.parametrize("version", frames.versions(ApiKey.SHARE_FETCH))
def test_a_share_groups_fetch_response(version: int) -> None:
    """It counts as a Fetch response does."""
    answer = frames.response(ApiKey.SHARE_FETCH, version, 1, {"ThrottleTimeMs": 5})
    for cut in (whole, *CUTS):
        found = relay().play([("client", frames.request(ApiKey.SHARE_FETCH, version, 1)), ("broker", answer)], cut)
        assert int.from_bytes(found.client.data[9:13], "big") == 10_000
        assert found.throttled == [10.0]
        assert found.client.data[13:] == answer[13:]


@pytest.mark.parametrize("version", [15, 17])
def test_a_fetch_response_that_streams(version: int) -> None:
    """It is told at the beginning, and the records behind it pass as they came; it counts once, whatever the cut."""
    answer = frames.fetched(version, 1, [(0, b"r" * 2000), (0, b"s" * 2000)])
    for cut in (whole, *CUTS):
        found = relay(1000).play([("client", frames.request(ApiKey.FETCH, version, 1)), ("broker", answer)], cut)
        told = int.from_bytes(found.client.data[9:13], "big")
        assert told == pytest.approx(len(answer) - 1000, abs=1)
        assert found.throttled == [told / 1000]
        assert found.client.data[13:] == answer[13:]


@pytest.mark.parametrize("key", [ApiKey.FETCH, ApiKey.SHARE_FETCH])
def test_fetches_that_are_pipelined_go_one_by_one(key: int) -> None:
    """As a broker takes them: what moves by one is known when the next begins. Other requests are not held for it."""
    found = fetching(10**6)
    others = frames.request(ApiKey.METADATA, 9, 2)
    found.feed("client", fetch(1, key) + others + fetch(3, key) + fetch(4, key))
    assert (bytes(found.broker.data), found.throttled) == (fetch(1, key) + others, [0.1])
    found.resume(0.1)
    assert (bytes(found.broker.data), found.throttled) == (fetch(1, key) + others, [0.1, 0.1])
    version = 12 if key == ApiKey.FETCH else 1
    found.feed("broker", frames.response(key, version, 1))
    found.resume(0.1)
    assert found.broker.data == fetch(1, key) + others + fetch(3, key)
    found.feed("broker", frames.response(ApiKey.METADATA, 9, 2) + frames.response(key, version, 3))
    found.resume(0.1)
    assert found.broker.data == fetch(1, key) + others + fetch(3, key) + fetch(4, key)


def test_a_fetch_on_a_new_connection_waits_for_the_principals_rate() -> None:
    """Once, for what it fetched on others; what comes behind it is another request, and in order."""
    found = fetching(1000)
    rates = ByteRates([PrincipalByteRate(principal=".*", fetch=1000)])
    rates.fetched(None, 5000, found.now)
    rooms = Room("quotas", policies(rates, lambda: found.now)), Room("relay", POLICIES)
    found = Relay(found.cluster, table=ApiTable(found.cluster.counters, compose(rooms)))
    found.waits = True
    metadata = frames.request(ApiKey.METADATA, 9, 1)
    found.feed("client", metadata + fetch(2) + frames.request(ApiKey.METADATA, 9, 3))
    assert found.broker.data == metadata
    assert found.throttled == [pytest.approx(4.0, abs=0.01)]
    found.resume(3.5)
    assert found.broker.data == metadata + fetch(2) + frames.request(ApiKey.METADATA, 9, 3), "it waited once"
    assert [each.route.api_key for each in found.in_flight] == [ApiKey.METADATA, ApiKey.FETCH, ApiKey.METADATA]
    assert found.cluster.counters.throttles["Fetch"] == 1


def test_who_was_throttled_is_not_held_for_the_same_again() -> None:
    """A response throttles its connection for 10 s at most; the next Fetch begins then, whatever is left."""
    found = fetching(100)
    found.feed("client", fetch(1))
    found.feed("broker", frames.fetched(12, 1, [(0, b"r" * 5000)]))
    assert found.throttled == [10.0]
    found.resume(10.0)
    found.feed("client", fetch(2))
    assert (bytes(found.broker.data), found.throttled) == (fetch(1) + fetch(2), [10.0])


def test_who_has_no_rate_is_not_held() -> None:
    """A rule for others concerns nobody else: requests in a pipeline pass at once."""
    cluster = Cluster()
    rates = ByteRates([PrincipalByteRate(principal="User:batch", produce=1, fetch=1)])
    found = Relay(cluster, table=ApiTable(cluster.counters, composed(cluster, {}, None, rates=rates)))
    found.waits = True
    found.feed("client", fetch(1) + fetch(2))
    assert (bytes(found.broker.data), found.throttled) == (fetch(1) + fetch(2), [])


def test_a_fetch_response_within_the_rate() -> None:
    """It is not touched."""
    answer = frames.fetched(17, 1, [(0, b"r" * 2000)])
    found = relay(10**6).play([("client", frames.request(ApiKey.FETCH, 17, 1)), ("broker", answer)], whole)
    assert (bytes(found.client.data), found.throttled) == (answer, [])


def test_a_fetch_response_that_was_read_into_bytes() -> None:
    """A small read makes bytes, which cannot change where they lie."""
    found = relay()
    found.feed("client", frames.request(ApiKey.FETCH, 12, 1))
    answer = frames.response(ApiKey.FETCH, 12, 1)
    rest = found.responses.feed(answer, found.now)
    assert rest is not None
    assert bytes(rest[9:13]) == (10_000).to_bytes(4, "big")


@pytest.mark.parametrize(
    "answer", [frames.response(ApiKey.FETCH, 12, 1, {}, ((1, b"x"),)), bytes((0, 0, 0, 4, 0, 0, 0, 1))]
)
def test_a_fetch_response_of_no_broker(answer: bytes) -> None:
    """Tagged fields in the header, or no field at all: nothing is changed; the client is read later all the same."""
    found = relay()
    found.feed("client", frames.request(ApiKey.FETCH, 12, 1))
    found.feed("broker", answer)
    assert (bytes(found.client.data), found.throttled) == (answer, [min(10.0, len(answer) - 1.0)])


def test_what_is_counted() -> None:
    """Throttles and their seconds, by API."""
    found = relay().play([("client", produce(9)), ("broker", frames.response(ApiKey.PRODUCE, 9, 1))], whole)
    counters = found.cluster.counters
    assert counters.throttles == {"Fetch": 0, "Produce": 1}
    assert counters.throttle_seconds == {"Fetch": 0.0, "Produce": 10.0}


def test_without_rules_nothing_is_looked_at() -> None:
    """The relay then costs what it did."""
    none: Mapping[int, ApiPolicy] = policies(ByteRates([]), float)
    assert none == {}


def _body(version: int, key: int) -> int:
    flexible = version >= (9 if key == ApiKey.PRODUCE else 12)
    return 9 if flexible else 8
