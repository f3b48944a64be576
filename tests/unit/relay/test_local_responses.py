"""The proxy's own answers: sent at once if nothing is in flight, otherwise behind every earlier response."""

from __future__ import annotations

import pytest

from kproxy.observe.counters import Histogram
from kproxy.protocol.group_errors import AT_THE_TOP
from kproxy.protocol.outcomes import Incremental
from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.primitives import INT32
from tests.property.wire_contents import TAGS
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.exchanges import API_VERSIONS, asked, ids, ids_behind, own
from tests.unit.relay.flows import Cluster, Relay, Script, play, whole
from tests.unit.relay.own import Room, asked_broker, dialogue, park, parked_response, step_response, work


@pytest.mark.parametrize("version", [6, 99, -1, 32767, -32768])
def test_the_proxys_own_answer_goes_out_at_once_when_nothing_is_in_flight(version: int) -> None:
    """The broker gets nothing; three in a row are answered in order."""
    sent = b"".join(frames.raw_request(API_VERSIONS, version, number, b"any") for number in (1, 2, 3))
    relay = play([("client", sent)])
    assert (bytes(relay.broker.data), list(relay.in_flight)) == (b"", [])
    assert [answer[:6] for answer in frames.split(bytes(relay.client.data))] == [
        number.to_bytes(4, "big") + b"\0\x23" for number in (1, 2, 3)
    ]


def test_an_own_answer_behind_a_request_without_response_does_not_wait() -> None:
    """With acks=0 no response comes, so there is nothing to wait for."""
    relay = play([("client", frames.produce(9, 1, 0) + frames.raw_request(API_VERSIONS, 99, 2))])
    assert relay.client.data[4:8] == (2).to_bytes(4, "big")


@pytest.mark.parametrize("request_under_way", [False, True])
@pytest.mark.parametrize(
    ("key", "version", "response"),
    [
        pytest.param(12, 3, frames.heartbeat(1)[1], id="passed"),
        pytest.param(2, 7, frames.raw_response(2, 7, 1, bytes(5000)), id="passed, large"),
        pytest.param(3, 12, frames.response(3, 12, 1), id="whole"),
        pytest.param(3, 12, frames.response(3, 12, 1, {TAGS: [(77, bytes(5000))]}), id="whole, large"),
        pytest.param(1, 17, frames.fetched(17, 1, [(0, b"r" * 5000), (0, None), (6, b"")]), id="streamed"),
        pytest.param(78, 1, frames.share_fetched(1, 1, [(0, b"r" * 5000)]), id="streamed, shared"),
    ],
)
def test_own_answers_wait_their_turn(key: int, version: int, response: bytes, request_under_way: bool) -> None:
    """Three in a row, behind a response that is under way; another exchange and another own answer behind them."""
    ping, pong = frames.heartbeat(6)
    behind = own(2) + own(3) + own(4) + ping + own(7)
    script: Script = [("client", asked(key, version, 1) + behind), ("broker", response + pong)]
    if request_under_way:
        half = len(response) // 2
        script = [
            ("client", asked(key, version, 1)),
            ("broker", response[:half]),
            ("client", behind),
            ("broker", response[half:] + pong),
        ]
    relay = play(script)
    assert ids(relay) == [1, 2, 3, 4, 6, 7]
    assert relay.client.data.startswith(response)
    assert not relay.in_flight
    assert relay.cluster.counters.apis[API_VERSIONS, -32768].responses == 4


def test_own_answers_in_front_of_a_response() -> None:
    """They go out at once; what comes behind them waits for the broker."""
    ping, pong = frames.heartbeat(3)
    relay = play([("client", own(1) + own(2) + ping + own(4)), ("broker", pong)])
    assert ids(relay) == [1, 2, 3, 4]


def test_an_own_answer_behind_a_spliced_response() -> None:
    """The kernel moves the last bytes; then the answer goes out, and the next frame is found."""
    sent = frames.raw_response(2, 7, 1, bytes(200_000))
    relay = Relay()
    relay.feed("client", asked(2, 7, 1) + own(2) + frames.heartbeat(3)[0] + own(4))
    relay.feed("broker", sent[:100])
    relay.responses.moved(relay.responses.passing - 1)
    assert len(relay.client.data) == 100
    relay.responses.moved(1)
    assert relay.client.data[100 + 4 : 100 + 8] == INT32.pack(2)
    relay.feed("broker", frames.heartbeat(3)[1])
    assert ids_behind(relay, 100) == [2, 3, 4]
    assert not relay.responses.under_way


def test_own_answers_have_no_time_of_the_broker() -> None:
    """They are counted as responses, with their bytes, and in no histogram."""
    relay = play([("client", frames.heartbeat(1)[0] + own(2)), ("broker", frames.heartbeat(1)[1])])
    counted = relay.cluster.counters.apis[API_VERSIONS, -32768]
    assert (counted.requests, counted.responses) == (1, 1)
    assert counted.response_bytes == len(relay.client.data) - len(frames.heartbeat(1)[1])
    assert (counted.upstream.counts, counted.proxy.counts) == (Histogram().counts, Histogram().counts)


def test_nothing_to_answer() -> None:
    """`send_due` sends nothing while no own answer has its turn."""
    relay = Relay()
    relay.own.send_due()
    relay.feed("client", frames.heartbeat(1)[0] + own(2))
    relay.own.send_due()
    assert not relay.client.data
    assert len(relay.in_flight) == 2


def outdated(*requests: bytes, before: Script = (), decides: Action = Action.NOT_COORDINATOR) -> Relay:
    """A connection with these requests in flight, after the epoch has risen and `answer_in_flight` was called."""
    relay = Relay(Cluster(decides={Trigger.COORDINATOR: decides}))
    relay.play([("client", b"".join(requests)), *before, ("epoch", b"")], whole)
    relay.own.answer_in_flight(relay.context)
    return relay


@every(("key", "version"), [(key, version) for key in AT_THE_TOP for version in frames.versions(key)])
def test_what_waits_at_a_coordinator_is_answered(key: int, version: int) -> None:
    """Each API that returns 16 at its top level, in each version, without its request."""
    relay = outdated(frames.request(key, version, 5))
    (answer,) = frames.split(bytes(relay.client.data))
    assert ids(relay) == [5]
    assert frames.understood(key, version, answer)["ErrorCode"] == ErrorCode.NOT_COORDINATOR
    assert (list(relay.in_flight), relay.own.count, relay.responses.count) == ([], 1, 0)
    assert relay.cluster.asks == [(Trigger.COORDINATOR, 0)]
    assert relay.errors() == {}


def test_several_are_answered_in_order() -> None:
    """One of the proxy's own answers is between them, and is sent in its turn."""
    join, beat = frames.request(11, 9, 5), frames.request(12, 4, 7)
    relay = outdated(join, own(6), beat)
    assert ids(relay) == [5, 6, 7]
    assert relay.cluster.asks == [(Trigger.COORDINATOR, 0)]


@pytest.mark.parametrize("other", [frames.request(8, 8, 6), frames.produce(9, 6), frames.request(9, 8, 6)])
@pytest.mark.parametrize("first", [False, True])
def test_nothing_is_answered_beside_what_is_waited_for(other: bytes, first: bool) -> None:
    """A commit or a record may have been done, so its response is waited for; the cluster is not asked."""
    join = frames.request(11, 9, 5)
    relay = outdated(*((other, join) if first else (join, other)))
    assert (bytes(relay.client.data), len(relay.in_flight), relay.cluster.asks) == (b"", 2, [])


def test_what_is_behind_a_commit_is_answered_in_its_turn() -> None:
    """Once the broker has answered what came before."""
    relay = outdated(frames.request(8, 8, 4), frames.request(14, 5, 5))
    assert not relay.client.data
    relay.feed("broker", frames.response(8, 8, 4))
    relay.own.answer_in_flight(relay.context)
    assert ids(relay) == [4, 5]


def test_nothing_is_answered_where_nothing_waits() -> None:
    """So no client is counted as notified."""
    relay = outdated()
    assert (bytes(relay.client.data), relay.cluster.asks) == (b"", [])


def test_what_is_to_be_served_is_waited_for() -> None:
    """The cluster decides."""
    relay = outdated(frames.request(11, 9, 5), decides=Action.SERVE)
    assert (bytes(relay.client.data), len(relay.in_flight)) == (b"", 1)


def test_answers_that_come_later_are_given_up_when_the_client_has_gone() -> None:
    """Their rooms are notified. What the broker owes is waited for; what is there, or under way in steps, is taken."""
    room = Room()
    relay = Relay(others=room.policies)
    ping, pong = frames.heartbeat(1)
    relay.feed("client", ping + park(5) + park(6, at_once=True) + park(7) + dialogue(8, 1))
    assert room.abandoned == []
    relay.own.abandon_parked()
    relay.own.abandon_parked()
    assert room.abandoned == [5, 7]
    room.parked[5].resolve(parked_response(5))
    relay.feed("broker", pong + step_response(8, 0))
    assert bytes(relay.client.data) == pong + parked_response(6) + asked_broker(8, 1)
    assert (len(relay.in_flight), relay.own.waiting_bytes) == (0, 0)
    relay.feed("client", work(9, 1))
    relay.own.abandon_parked()
    stepwise = room.parked[9]
    assert isinstance(stepwise, Incremental)
    stepwise.finish()
    assert relay.client.data.endswith(parked_response(9))
