"""The table that decides how each API is treated in each version."""

from __future__ import annotations

import pytest

from kproxy.observe.counters import MAX_REFUSED, OTHER, ApiCounters, ClusterCounters
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import (
    PASS_UNCHANGED,
    ApiPolicy,
    ApiTable,
    Chunk,
    OnRequest,
    OnResponse,
    Respond,
    Route,
)
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.outcomes import Answer, Hold
from kproxy.relay.apis import POLICIES
from kproxy.wire.apis import APIS, ApiSpec, response_header_version
from tests.unit.relay.flows import Cluster

SPECS = {
    1: ApiSpec(1, "Open", 2, 5, 4, True, newest_from=4),
    2: ApiSpec(2, "Closed", 0, 1, 0, False),
    3: ApiSpec(3, "Limited", 0, 3, 9, True),
    8: ApiSpec(8, "Any", 1, 2, 9, True),
}


def answer(context: Context, frame: memoryview) -> Answer:
    del context
    return Answer(bytes(frame))


OWN = {3: ApiPolicy(refuse_below=2), 8: ApiPolicy(on_request=OnRequest.WHOLE, request=answer, any_version=True)}


def table(counters: ClusterCounters | None = None) -> ApiTable:
    return ApiTable(counters or ClusterCounters("test"), OWN, SPECS)


def word(key: int, version: int) -> int:
    """Key and version as they are in a request's header."""
    return (key & 0xFFFF) << 16 | version & 0xFFFF


def refusal(key: int, version: int) -> Fault:
    with pytest.raises(Fault) as caught:
        table().route(word(key, version))
    return caught.value


@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_a_known_version_has_one_route(version: int) -> None:
    """Made at its first use, then the same object."""
    found = table()
    route = found.route(word(1, version))
    assert (route.api_key, route.version, route.policy) == (1, version, PASS_UNCHANGED)
    assert (route.on_request, route.on_response) == (OnRequest.PASS, OnResponse.PASS)
    assert route.removed == (f"Open v{version}" if version < 4 else "")
    assert found.route(word(1, version)) is route
    assert found.routes == {word(1, version): route}
    assert found.counters.apis == {(1, version): route.counters}


def test_a_stale_table_has_its_own_policies_and_the_same_counters() -> None:
    """An API without a stale policy is treated as before; further epochs change nothing."""
    held = ApiPolicy(on_request=OnRequest.WHOLE, request=answer)
    fresh = ApiTable(ClusterCounters("test"), {1: ApiPolicy(stale=held), **OWN}, SPECS, only=frozenset({1, 3}))
    stale = fresh.stale
    assert (stale.route(word(1, 2)).policy, stale.route(word(3, 2)).policy) == (held, OWN[3])
    assert stale.route(word(1, 2)).counters is fresh.route(word(1, 2)).counters
    assert fresh.route(word(1, 2)).on_request is OnRequest.PASS
    assert fresh.stale is stale is stale.stale
    with pytest.raises(Fault) as caught:
        stale.route(word(8, 1))
    assert caught.value.reason is Reason.RETIRED_NODE


@pytest.mark.parametrize(
    ("key", "version", "reason", "detail"),
    [
        (1, 1, Reason.UNSUPPORTED_VERSION, "Open v1 is outside 2..5"),
        (1, 6, Reason.UNSUPPORTED_VERSION, "Open v6 is outside 2..5"),
        (1, -1, Reason.UNSUPPORTED_VERSION, "Open v-1 is outside 2..5"),
        (3, 1, Reason.UNSUPPORTED_VERSION, "Limited v1 is outside 2..3"),
        (2, 0, Reason.REFUSED_API, "Closed is between brokers and controllers only"),
        (5, 0, Reason.UNKNOWN_API, "api key 5 is not in Kafka's schemas"),
        (-3, 7, Reason.UNKNOWN_API, "api key -3 is not in Kafka's schemas"),
    ],
)
def test_refusals(key: int, version: int, reason: Reason, detail: str) -> None:
    """Each has its reason, and a detail that names what is served; key and version are read as signed."""
    fault = refusal(key, version)
    assert (fault.reason, fault.detail, fault.api_key) == (reason, detail, key)


def test_refusals_are_counted_and_bounded() -> None:
    """Counters exist by key and reason, not for every value that a client can invent."""
    counters = ClusterCounters("test")
    found = table(counters)
    for key in range(100, 100 + MAX_REFUSED + 50):
        with pytest.raises(Fault):
            found.route(word(key, 0))
    assert sum(counters.refused.values()) == MAX_REFUSED + 50
    assert counters.refused[OTHER, "unknown_api"] == 50
    assert (found.routes, counters.apis) == ({}, {})


@pytest.mark.parametrize("version", [0, 3, -1, 32767, -32768])
def test_a_policy_for_any_version(version: int) -> None:
    """A version outside Kafka's schemas gets a route that is not kept, and shares its counters with the others."""
    found = table()
    route = found.route(word(8, version))
    assert (route.on_request, route.version, route.counters.api_version) == (OnRequest.WHOLE, version, OTHER)
    assert found.routes == {}
    assert found.route(word(8, 1)).counters.api_version == 1
    assert found.routes.keys() == {word(8, 1)}
    handler = route.policy.request
    assert handler is not None
    assert handler(None, memoryview(b"frame")) == Answer(b"frame")  # type: ignore[arg-type]


def test_what_is_served() -> None:
    """Each open API, with the versions that are let through."""
    assert table().served() == ((1, 2, 5), (3, 2, 3), (8, 1, 2))


def test_what_is_served_is_what_is_let_through() -> None:
    """Checked for Kafka's own table and the relay's policies, at both ends of each range."""
    found = ApiTable(ClusterCounters("test"), POLICIES)
    assert {key for key, _, _ in found.served()} == {spec.key for spec in APIS.values() if spec.broker}
    for key, low, high in found.served():
        assert found.route(word(key, low)).version == low
        assert found.route(word(key, high)).version == high
        if key != 18:
            for version in (low - 1, high + 1):
                with pytest.raises(Fault):
                    found.route(word(key, version))


def test_responses_before_a_version_pass() -> None:
    """`response_from` is the first version whose response is looked at."""
    made: list[int] = []

    def handler(route: Route) -> Respond:
        made.append(route.version)
        return lambda context, frame: [frame]

    policy = ApiPolicy(on_response=OnResponse.WHOLE, response=handler, response_from=4)
    old, new = (Route(SPECS[1], version, policy, ApiCounters(1, version)) for version in (3, 4))
    assert (old.on_response, new.on_response, made) == (OnResponse.PASS, OnResponse.WHOLE, [4])
    frame = memoryview(b"frame")
    assert old.respond(None, frame) is None  # type: ignore[arg-type]
    assert new.respond(None, frame) == [frame]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "version", "error_at"),
    [
        (12, 0, 8),  # no throttle time, no tagged fields
        (12, 3, 12),  # throttle time
        (12, 4, 13),  # and a flexible header
        (17, 1, 8),
        (36, 2, 9),
        (45, 0, 13),
        (45, 1, 14),
        (2, 5, None),
        (0, 12, None),
    ],
)
def test_where_the_error_code_is(key: int, version: int, error_at: int | None) -> None:
    """It is counted from the frame's size. A response is looked at up to there, or else up to its correlation id."""
    route = Route(APIS[key], version, PASS_UNCHANGED, ApiCounters(key, version))
    assert route.error_at == error_at
    assert route.head_bytes == (8 if error_at is None else error_at + 2)


def test_a_flexible_header_moves_the_error_code() -> None:
    """It moves by one byte, in every API whose error code has a fixed offset."""
    for spec in APIS.values():
        for version in range(spec.min_version, spec.max_version + 1):
            route = Route(spec, version, PASS_UNCHANGED, ApiCounters(spec.key, version))
            if route.error_at is not None:
                assert (route.error_at - 8 - response_header_version(spec.key, version)) in (0, 4, 5)


def test_the_table_of_kafka_is_the_default() -> None:
    """It has all of Kafka's APIs, none of them with a policy."""
    found = ApiTable(ClusterCounters("test"), {})
    assert {key: (low, high) for key, low, high in found.served()}[17] == (0, 1)


def test_requests_before_a_version_pass() -> None:
    """`request_from` is the first version whose requests are looked at; unknown versions are looked at, too."""
    policy = ApiPolicy(on_request=OnRequest.WHOLE, request=answer, request_from=3, any_version=True)
    found = [Route(SPECS[1], version, policy, ApiCounters(1, version)).on_request for version in (-1, 2, 3, 4)]
    assert found == [OnRequest.WHOLE, OnRequest.PASS, OnRequest.WHOLE, OnRequest.WHOLE]


def test_a_table_of_some_apis_only() -> None:
    """All other APIs are refused for the node that is gone; unknown APIs and brokers' own keep their own reason."""
    counters = ClusterCounters("test")
    found = ApiTable(counters, OWN, SPECS, only=frozenset({1, 2}))
    assert found.route(word(1, 4)).version == 4
    assert found.served() == ((1, 2, 5),)
    for key, reason in ((3, Reason.RETIRED_NODE), (8, Reason.RETIRED_NODE), (2, Reason.REFUSED_API)):
        with pytest.raises(Fault) as caught:
            found.route(word(key, 1))
        assert (caught.value.reason, caught.value.api_key) == (reason, key)
        assert counters.refused[key, reason] == 1


def test_a_route_whose_response_passes_unseen() -> None:
    """It is made once, and is the route itself but for the response."""
    route = table().route(word(8, 1))
    unseen = route.unseen()
    assert route.unseen() is unseen
    assert (unseen.on_request, unseen.on_response, unseen.counters) == (
        route.on_request,
        OnResponse.PASS,
        route.counters,
    )


@pytest.mark.parametrize("held", [None, Hold(1.0)], ids=["goes on", "is held"])
def test_a_notice_is_of_requests_that_go_on(held: Hold | None) -> None:
    """What looks at a request first decides; a request that it holds is not noticed."""
    noticed: list[bytes] = []

    def notice(_context: Context, buf: Chunk, pos: int, end: int) -> None:
        noticed.append(bytes(buf[pos:end]))

    policy = ApiPolicy(before=lambda *_: held, notice=notice)
    before = ApiTable(ClusterCounters("test"), {3: policy}, SPECS).route(word(3, 2)).before
    assert before is not None
    assert before(Context(Cluster(), 7, "client:1", "10.9.8.7"), b"abc", 1, 3) is held
    assert noticed == ([b"bc"] if held is None else [])
