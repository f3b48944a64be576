"""Rooms that share an API: requests and responses pass all of them in order; what cannot be shared is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kproxy.cluster.policies import composed
from kproxy.observe.counters import ClusterCounters
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiPolicy, ApiTable, Chunk, Detour, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.composition import CompositionError, LastWord, Room, compose
from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import Answer, Forward, Hold, Outcome
from kproxy.wire.arriving import ArrivingWalk
from kproxy.wire.commit_walk import CommitWalk
from kproxy.wire.config_resources import NamedResources
from kproxy.wire.primitives import frame as framed
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, Relay, play

FIND_COORDINATOR, VERSION = 10, 4
OFFSET_COMMIT = 8
WHOLE: dict[str, Any] = {"on_request": OnRequest.WHOLE, "on_response": OnResponse.WHOLE}


def writes(name: bytes, *, last: Reason | None = None) -> Callable[[Context, memoryview], Outcome]:
    """A request handler that appends its name to the request."""

    def handle(context: Context, frame: memoryview) -> Outcome:
        del context
        return Forward(framed(frame, name), last)

    return handle


def answers(name: bytes) -> Callable[[Context, memoryview], Outcome]:
    """A request handler that answers with its name."""

    def handle(context: Context, frame: memoryview) -> Outcome:
        del context
        return Answer(framed(frame[4:8], name))

    return handle


def passes(context: Context, frame: memoryview) -> None:
    """A request handler that changes nothing."""
    del context, frame


def says(name: bytes, *, last_word: bool = False) -> Callable[[Route], Respond]:
    """A response handler that appends its name to the response."""

    def make(route: Route) -> Respond:
        del route

        def respond(context: Context, frame: memoryview) -> Sequence[Chunk]:
            del context
            return LastWord((frame, name)) if last_word else [frame, name]

        return respond

    return make


def unchanged(route: Route) -> Respond:
    """A response handler that changes nothing."""
    del route
    return lambda context, frame: None


def rooms(*policies: ApiPolicy) -> Sequence[Room]:
    """Rooms called a, b, ..., each with one policy for the same API."""
    return [Room(name, {FIND_COORDINATOR: policy}) for name, policy in zip("abc", policies, strict=False)]


def together(*policies: ApiPolicy) -> ApiPolicy:
    """The rooms' composed policy."""
    return compose(rooms(*policies))[FIND_COORDINATOR]


def exchanged(*policies: ApiPolicy) -> tuple[bytes, bytes, Relay]:
    """What the broker gets after a request and the client after a response; the same for every cut."""
    asked = frames.raw_request(FIND_COORDINATOR, VERSION, 5, b"q")
    answered = frames.raw_response(FIND_COORDINATOR, VERSION, 5, b"r")
    shared = compose(rooms(*policies))
    relay = play([("client", asked), ("broker", answered)], lambda: Relay(others=shared))
    return bytes(relay.broker.data)[len(asked) :], bytes(relay.client.data)[len(answered) :], relay


def test_two_rooms_in_one_api() -> None:
    """Both see the request and the response in order, each as the room before has left it."""
    a = ApiPolicy(**WHOLE, request=writes(b"a"), response=says(b"a"))
    b = ApiPolicy(**WHOLE, request=writes(b"b"), response=says(b"b"))
    assert exchanged(a, b)[:2] == (b"ab", b"ab")
    assert exchanged(b, a)[:2] == (b"ba", b"ba")


def test_a_room_that_changes_nothing_hides_no_other() -> None:
    """Neither the room before it nor the one behind it."""
    silent = ApiPolicy(**WHOLE, request=passes, response=unchanged)
    speaks = ApiPolicy(**WHOLE, request=writes(b"a"), response=says(b"a"))
    assert exchanged(silent, speaks)[:2] == exchanged(speaks, silent)[:2] == (b"a", b"a")
    assert exchanged(silent, silent)[:2] == (b"", b"")


def test_a_room_that_answers_is_the_last_to_see_a_request() -> None:
    """The rooms behind it are not asked, and the broker gets nothing."""
    request = frames.raw_request(FIND_COORDINATOR, VERSION, 5, b"q")
    shared = compose(
        rooms(ApiPolicy(**WHOLE, request=answers(b"a")), ApiPolicy(**WHOLE, request=writes(b"b"), response=says(b"b")))
    )
    relay = play([("client", request)], lambda: Relay(others=shared))
    assert (bytes(relay.broker.data), bytes(relay.client.data)[8:]) == (b"", b"a")


def test_a_last_word_on_a_response() -> None:
    """No later room changes it."""
    final = ApiPolicy(**WHOLE, request=passes, response=says(b"a", last_word=True))
    other = ApiPolicy(**WHOLE, request=passes, response=says(b"b"))
    assert exchanged(final, other)[1] == b"a"
    assert exchanged(other, final)[1] == b"ba"


def test_the_last_request_stays_the_last() -> None:
    """If a room ends the connection, the rooms behind it cannot undo that."""
    ends = ApiPolicy(**WHOLE, request=writes(b"a", last=Reason.REBOOTSTRAP), response=unchanged)
    more = ApiPolicy(**WHOLE, request=writes(b"b"), response=unchanged)
    for order in ((ends, more), (more, ends)):
        assert exchanged(*order)[2].requests.last is Reason.REBOOTSTRAP


def test_each_room_from_its_version_on() -> None:
    """Below its version a room sees neither requests nor responses; the other room does."""
    late = ApiPolicy(**WHOLE, request=writes(b"a"), response=says(b"a"), request_from=5, response_from=5)
    always = ApiPolicy(**WHOLE, request=writes(b"b"), response=says(b"b"))
    assert exchanged(late, always)[:2] == (b"b", b"b")
    shared = together(late, always)
    assert (shared.request_from, shared.response_from) == (0, 0)
    both_late = together(late, ApiPolicy(**WHOLE, request=passes, response=unchanged, request_from=2, response_from=3))
    assert (both_late.request_from, both_late.response_from) == (2, 3)


def detours(name: bytes | None) -> ApiPolicy:
    """A room that answers each request on a detour; without a name the request goes on all the same."""
    handle = passes if name is None else answers(name)
    return ApiPolicy(detour=lambda context, version: Detour(handle))


def test_a_detour_is_in_its_place_of_the_order() -> None:
    """The rooms before see the request first, those behind it do not; what the last one let go on is not answered."""
    a = ApiPolicy(**WHOLE, request=writes(b"a"), response=says(b"r"))
    ends = ApiPolicy(**WHOLE, request=writes(b"e", last=Reason.REBOOTSTRAP), response=unchanged)
    first = ApiPolicy(**WHOLE, request=answers(b"first"), response=unchanged)
    request = frames.raw_request(FIND_COORDINATOR, VERSION, 5, b"q")

    def sent(*policies: ApiPolicy) -> tuple[bytes, bytes]:
        shared = compose(rooms(*policies))
        relay = play([("client", request)], lambda: Relay(others=shared))
        return bytes(relay.broker.data)[len(request) :], bytes(relay.client.data)[8:]

    assert sent(detours(b"d"), a) == sent(a, detours(b"d")) == (b"", b"d")
    assert sent(detours(b"d")) == (b"", b"d")
    assert sent(first, detours(b"d")) == (b"", b"first")
    assert sent(ends, detours(b"d")) == (b"e", b"")
    assert sent(a, detours(None)) == (b"a", b"")
    assert sent(detours(None)) == (b"", b"")


def test_a_request_without_a_detour() -> None:
    """It goes the ordinary way, through all rooms; one that is held does so afterwards."""
    a = ApiPolicy(**WHOLE, request=writes(b"a"), response=says(b"a"))
    assert exchanged(a, ApiPolicy(detour=lambda context, version: None))[:2] == (b"a", b"a")
    holds = exchanged(a, ApiPolicy(detour=lambda context, version: Detour(hold=Hold(1.5))))
    assert (holds[:2], holds[2].throttled) == ((b"a", b"a"), [1.5])


def test_bounds_are_those_of_all() -> None:
    """The strictest lowest version; the largest request that a room wants whole; a glance only where all glance."""
    a = ApiPolicy(on_request=OnRequest.WHOLE, request=passes, request_limit=10, refuse_below=1, any_version=True)
    b = ApiPolicy(on_request=OnRequest.WHOLE, request=passes, request_limit=20, refuse_below=2)
    shared = together(a, b)
    assert (shared.request_limit, shared.refuse_below, shared.any_version, shared.glances) == (20, 2, True, False)
    glances = ApiPolicy(on_response=OnResponse.WHOLE, response=unchanged, glances=True)
    assert together(glances, glances).glances
    assert not together(glances, ApiPolicy(on_response=OnResponse.WHOLE, response=unchanged)).glances
    assert together(glances, a).glances


def test_one_room_alone_is_as_it_is() -> None:
    """The policy of an API in which one room takes part is not wrapped."""
    only = ApiPolicy(on_request=OnRequest.WHOLE, request=passes)
    assert together(only) is only


def before(context: Context, buf: Chunk, pos: int, end: int) -> None:
    """Nothing has to be known."""
    del context, buf, pos, end


def notice(context: Context, buf: Chunk, pos: int, end: int) -> None:
    """Nothing is noticed."""
    del context, buf, pos, end


def walk(api_key: int, version: int) -> ArrivingWalk:
    """As another walk."""
    return NamedResources(api_key, version)


def rewriter(context: Context, version: int, buf: Chunk, pos: int, size: int) -> None:
    """Nothing has to change."""
    del context, version, buf, pos, size


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ({"alone": True}, {}, "a answers every request itself, so b cannot take part"),
        ({}, {"alone": True}, "b answers every request itself, so a cannot take part"),
        (
            {"on_request": OnRequest.ACKS},
            {"on_request": OnRequest.WHOLE},
            "a lets requests pass by their acks",
        ),
        (
            {"on_response": OnResponse.WHOLE},
            {"on_response": OnResponse.STREAM},
            "b lets responses stream, a wants",
        ),
        ({"own": (0, 1)}, {"own": (0, 0)}, "a and b both claim `own`"),
        ({"stale": ApiPolicy()}, {"stale": ApiPolicy()}, "a and b both claim `stale`"),
        ({"stale_response": bytes}, {"stale_response": bytes}, "a and b both claim `stale_response`"),
        ({"before": before}, {"before": before}, "a and b both claim `before`"),
        ({"notice": notice}, {"notice": notice}, "a and b both claim `notice`"),
        ({"rewriter": rewriter}, {"rewriter": rewriter}, "a and b both claim `rewriter`"),
        ({"request_walk": walk}, {"request_walk": NamedResources}, "a and b both claim `request_walk`"),
        ({"response_walk": walk}, {"response_walk": NamedResources}, "a and b both claim `response_walk`"),
    ],
)
def test_a_clash_names_both_rooms(a: dict[str, Any], b: dict[str, Any], why: str) -> None:
    """It is an error at the start; one room never silently replaces the other."""
    with pytest.raises(CompositionError, match=rf"^api 10 \(FindCoordinator\): {why}"):
        together(ApiPolicy(**a), ApiPolicy(**b))


def test_requests_in_a_transaction() -> None:
    """Rooms that deal with these otherwise do so beside the others' policies; all other requests pass without them."""
    seen: list[str] = []

    def sees(name: str) -> Callable[[Route], Respond]:
        def make(route: Route) -> Respond:
            del route
            return lambda context, frame: seen.append(name)

        return make

    always = ApiPolicy(on_request=OnRequest.ACKS, on_response=OnResponse.WHOLE, response=sees("always"))
    at_times = ApiPolicy(in_transaction=ApiPolicy(on_response=OnResponse.WHOLE, response=sees("in transaction")))
    noticing = ApiPolicy(in_transaction=ApiPolicy(notice=lambda *_: seen.append("noticed")))
    parts = zip("abc", (always, at_times, noticing), strict=True)
    shared = compose([Room(name, {0: policy}) for name, policy in parts])
    assert shared[0].in_transaction is not None
    assert shared[0].in_transaction.in_transaction is None
    for transactional_id, expected in ((None, ["always"]), ("t", ["noticed", "always", "in transaction"])):
        seen.clear()
        relay = Relay(others=shared)
        relay.feed("client", frames.produce(9, 5, transactional_id=transactional_id))
        relay.feed("broker", frames.produced(9, 5))
        assert seen == expected
    relay.feed("client", frames.produce(9, 6, acks=0, transactional_id="t"))
    assert not list(relay.in_flight)


@pytest.mark.parametrize("what", ["request_walk", "response_walk"])
def test_rooms_share_a_walk(what: str) -> None:
    """What several rooms want to know of a frame is found once."""
    wants, nothing = ApiPolicy(**{what: walk}), ApiPolicy()  # type: ignore[arg-type]
    for policies in ((wants, wants), (wants, nothing), (nothing, wants)):
        assert getattr(together(*policies), what) is walk
    assert getattr(together(nothing, nothing), what) is None


@pytest.mark.parametrize(("others", "unseen"), [({}, True), ({"response": unchanged, **WHOLE}, False)])
def test_a_response_passes_unseen_where_one_room_sees_it(others: dict[str, Any], unseen: bool) -> None:
    """A room cannot say that another one need not look."""

    def lets_pass(context: Context, frame: memoryview) -> Forward:
        del context
        return Forward(framed(frame), unseen=True)

    policy = together(
        ApiPolicy(request=passes, **({"on_request": OnRequest.WHOLE} | others)),
        ApiPolicy(request=lets_pass, response=unchanged, **WHOLE),
    )
    assert policy.request is not None
    outcome = policy.request(Relay().context, memoryview(frames.request(FIND_COORDINATOR, VERSION, 5)[4:]))
    assert isinstance(outcome, Forward)
    assert outcome.unseen == unseen


@pytest.mark.parametrize(("first", "kept"), [(passes, True), (writes(b"!"), False)])
def test_a_walk_is_over_the_frame_that_came(first: Callable[[Context, memoryview], Outcome | None], kept: bool) -> None:
    """The next room gets it, unless a room before has put another frame in place of that one."""
    seen: list[object] = []

    def looks(context: Context, frame: memoryview) -> None:
        del frame
        seen.append(context.walk)

    policy = together(*(ApiPolicy(on_request=OnRequest.WHOLE, request=handle) for handle in (first, looks)))
    assert policy.request is not None
    context = Relay().context
    context.walk = walk = CommitWalk(OFFSET_COMMIT, 8)
    policy.request(context, memoryview(frames.request(FIND_COORDINATOR, VERSION, 5)[4:]))
    assert seen == [walk if kept else None]


def test_a_virtual_cluster_refuses_a_clash() -> None:
    """A room that answers Metadata itself meets this error."""
    with pytest.raises(
        CompositionError, match=r"Metadata.*telemetry answers every request itself.*rebootstrap and relay"
    ):
        composed(Cluster(), {3: ApiPolicy(alone=True)}, None)


def test_a_room_joins_every_api_of_its_own() -> None:
    """APIs that rooms do not share are all in the result."""
    only = ApiPolicy(on_request=OnRequest.WHOLE, request=passes)
    shared = composed(Cluster(), {71: only}, None)
    assert shared[71] is only
    assert ApiTable(ClusterCounters("test"), shared).route(71 << 16).policy is only
    assert sorted(shared) == [
        0,
        1,
        3,
        8,
        9,
        10,
        11,
        12,
        13,
        14,
        17,
        18,
        28,
        32,
        33,
        36,
        44,
        55,
        60,
        68,
        71,
        76,
        78,
        79,
        88,
    ]
