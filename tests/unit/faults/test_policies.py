"""kproxy.faults.policies: requests that a rule hits get the fault, all others pass; whatever the cut of the bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kproxy.config.faults import API_KEYS
from kproxy.observe.reasons import Reason
from kproxy.producers.producer_ids import ProducerIds
from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.transactions.policies import Unanswered
from kproxy.transactions.transactional_ids import TransactionalIds
from kproxy.wire.generated.api_keys import ApiKey
from tests.support.batches import batch
from tests.support.every import every
from tests.unit.faults.exchanges import Exchange, errors_in, exchanges
from tests.unit.faults.faulty import Faulty
from tests.unit.relay import frames
from tests.unit.relay.flows import CUTS, Cluster, Cut, Script, play, whole

NOT_LEADER: dict[str, Any] = {"error": "NOT_LEADER_OR_FOLLOWER"}
NEWEST = [one for one in exchanges() if one.version == frames.versions(one.key)[-1] and one.key != ApiKey.HEARTBEAT]
PING, PONG = frames.heartbeat(1)


def api(one: Exchange) -> str:
    """The name of its API."""
    return next(name for name, key in API_KEYS.items() if key == one.key)


def produce(
    correlation_id: int = 5,
    acks: int = -1,
    client_id: str = "orders-1",
    size: int = 500,
    transactional_id: str | None = None,
) -> bytes:
    """A request for two partitions of a topic."""
    data = [{"Index": index, "Records": bytes(size)} for index in (0, 3)]
    topics = [{"Name": "orders", "PartitionData": data}]
    content = {"TransactionalId": transactional_id, "Acks": acks, "TopicData": topics}
    return frames.request(ApiKey.PRODUCE, 11, correlation_id, content, client_id)


@every("one", NEWEST, ids=lambda one: f"{api(one)}-{len(one.errors)}")
def test_an_error(one: Exchange) -> None:
    """The client gets the answer in its turn, and the broker gets what is before and behind, but not the request."""
    behind = frames.heartbeat(6)
    script: Script = [("client", PING + one.request() + behind[0]), ("broker", PONG + behind[1])]
    relay = play(script, lambda: Faulty({"api": api(one)} | NOT_LEADER))
    first, answer, last = frames.split(bytes(relay.client.data))
    assert (first, last) == (PONG[4:], behind[1][4:])
    assert errors_in(frames.understood(one.key, one.version, answer)) == one.errors
    assert bytes(relay.broker.data) == PING + behind[0]
    assert relay.noted == [("error", api(one), one.version)]
    assert relay.reason is relay.requests.last is None


@every("cut", [whole, *CUTS])
def test_heartbeat(cut: Cut) -> None:
    """The same for the API of the frames around."""
    relay = Faulty({"api": "Heartbeat", "error": "REBALANCE_IN_PROGRESS"}).play([("client", PING)], cut)
    (answer,) = frames.split(bytes(relay.client.data))
    assert errors_in(frames.understood(ApiKey.HEARTBEAT, 3, answer), 27) == [()]
    assert not relay.broker.data


def test_close() -> None:
    """Responses that are owed go out, then the connection ends; what is behind the request goes nowhere."""
    relay = play(
        [("client", PING + produce() + PING), ("broker", PONG)], lambda: Faulty({"api": "Produce", "close": True})
    )
    assert (bytes(relay.client.data), bytes(relay.broker.data)) == (PONG, PING)
    assert relay.requests.last is Reason.FAULT_INJECTED
    assert "rule 1" in relay.requests.last_detail
    assert relay.noted == [("close", "Produce", 11)]


def test_half_a_frame() -> None:
    """The first half of the answer that `error` would give, then the connection ends."""
    answer = play([("client", produce())], lambda: Faulty({"api": "Produce"} | NOT_LEADER)).client.data
    relay = play([("client", produce())], lambda: Faulty({"api": "Produce", "half": "NOT_LEADER_OR_FOLLOWER"}))
    assert bytes(relay.client.data) == bytes(answer[: len(answer) // 2])
    assert (relay.requests.last, bytes(relay.broker.data)) == (Reason.FAULT_INJECTED, b"")
    assert relay.noted == [("half", "Produce", 11)]


@pytest.mark.parametrize("acks", [1, 0, -1])
def test_delay(acks: int) -> None:
    """The request and all behind it are held once, then go on as they came; what is before is not held."""
    sent = PING + produce(acks=acks) + frames.heartbeat(6)[0]
    relay = play([("client", sent)], lambda: Faulty({"api": "Produce", "delay": "2s"}))
    assert bytes(relay.broker.data) == sent
    assert (relay.throttled, relay.noted) == ([2.0], [("delay", "Produce", 11)])
    assert [one.correlation_id for one in relay.in_flight] == [1, 5, 6] if acks else [1, 6]


@pytest.mark.parametrize("rules", [(), ({"api": "Produce", "delay": "2s"},)])
def test_a_transaction(rules: tuple[dict[str, Any], ...]) -> None:
    """A request of a transaction that is delayed is noted as any other: once, when it goes on."""
    sent = produce(transactional_id="orders")
    relay = Faulty(*rules, transactional_ids=TransactionalIds())
    relay.play([("client", sent)], whole)
    assert bytes(relay.broker.data) == sent
    unanswered = relay.context.find(Unanswered)
    assert unanswered is not None
    assert [(number, asked.transactional_id) for number, asked in unanswered.requests] == [(5, "orders")]


def test_what_is_held_is_held() -> None:
    """Until the time is over, nothing of the request goes on."""
    relay = Faulty({"api": "Produce", "delay": "2s"})
    relay.feed_held("client", PING + produce())
    relay.feed_held("client", frames.heartbeat(6)[0])
    assert bytes(relay.broker.data) == PING
    assert relay.requests.holding
    relay.resolved()
    assert bytes(relay.broker.data) == PING + produce() + frames.heartbeat(6)[0]


def test_an_epoch_begins_while_a_request_is_held() -> None:
    """The connection is of an earlier epoch then: the request goes the way of all those."""
    relay = Faulty(
        {"api": "Heartbeat", "delay": "2s"}, cluster=Cluster(decides={Trigger.COORDINATOR: Action.NOT_COORDINATOR})
    )
    relay.feed_held("client", PING)
    relay.feed("epoch", b"")
    relay.resolved()
    (answer,) = frames.split(bytes(relay.client.data))
    assert errors_in(frames.understood(ApiKey.HEARTBEAT, 3, answer), 16) == [()]
    assert not relay.broker.data


def test_without_acks() -> None:
    """Nobody answers acks=0: the request is dropped, and what follows passes."""
    relay = play(
        [("client", produce(acks=0) + PING), ("broker", PONG)], lambda: Faulty({"api": "Produce"} | NOT_LEADER)
    )
    assert (bytes(relay.client.data), bytes(relay.broker.data)) == (PONG, PING)
    assert relay.noted == [("error", "Produce", 11)]
    half = play([("client", produce(acks=0))], lambda: Faulty({"api": "Produce", "half": "NOT_LEADER_OR_FOLLOWER"}))
    assert (bytes(half.client.data), half.requests.last) == (b"", Reason.FAULT_INJECTED)


def test_a_request_without_a_place_for_the_error_passes() -> None:
    """It goes on unchanged, nothing is noted, and the rule has not hit."""
    request = frames.request(ApiKey.METADATA, 8, 5, {"Topics": None})
    relay = play([("client", request)], lambda: Faulty({"api": "Metadata", "count": 1} | NOT_LEADER))
    assert (bytes(relay.broker.data), relay.noted) == (request, [])
    assert [rule.hits for rule in relay.rules.all()] == [0]


def test_a_large_request() -> None:
    """A request that is hit may be larger than what other policies hold."""
    relay = Faulty({"api": "Produce"} | NOT_LEADER)
    relay.feed("client", produce(size=3 << 20))
    assert errors_in(frames.understood(ApiKey.PRODUCE, 11, frames.split(bytes(relay.client.data))[0])) == [
        ("orders", 0),
        ("orders", 3),
    ]


def test_other_clients_and_apis_are_spared() -> None:
    """Their bytes pass as without any rule, and nothing is held."""
    sent = b"".join((PING, produce(client_id="other"), frames.request(ApiKey.FETCH, 12, 7)))
    rules = ({"api": "Produce", "client_id": "orders-.*"} | NOT_LEADER, {"api": "EndTxn"} | NOT_LEADER)
    relay = play([("client", sent)], lambda: Faulty(*rules))
    assert (bytes(relay.broker.data), relay.noted) == (sent, [])


def test_the_share_of_requests() -> None:
    """Each request is asked about once, however its bytes come."""

    def make() -> Faulty:
        chances = iter([0.05, 0.5, 0.09, 0.1])
        return Faulty(
            {"api": "Heartbeat", "rate": 0.1, "error": "REBALANCE_IN_PROGRESS"}, chance=lambda: next(chances, 1.0)
        )

    sent = [frames.heartbeat(number)[0] for number in range(1, 5)]
    relay = play([("client", b"".join(sent)), ("broker", b"".join(frames.heartbeat(n)[1] for n in (2, 4)))], make)
    assert bytes(relay.broker.data) == sent[1] + sent[3]
    assert [one[:4] for one in frames.split(bytes(relay.client.data))] == [n.to_bytes(4, "big") for n in (1, 2, 3, 4)]


def _produced_by(producer_id: int) -> bytes:
    data = [{"Index": 0, "Records": batch(producer_id, [b"v"])}]
    return frames.request(ApiKey.PRODUCE, 11, 5, {"Acks": -1, "TopicData": [{"Name": "t", "PartitionData": data}]})


@pytest.mark.parametrize("rule", [{"delay": "1s"}, {"rate": 0.5} | NOT_LEADER])
def test_requests_that_other_rooms_change(rule: dict[str, Any]) -> None:
    """A request that is delayed or spared is changed by the other rooms as ever."""

    def make(*rules: dict[str, Any]) -> Callable[[], Faulty]:
        def made() -> Faulty:
            relay = Faulty(*rules, ids=ProducerIds("w", 3), chance=lambda: 0.9)
            relay.context.cluster_id = "c"
            return relay

        return made

    request = _produced_by(7)
    plain = play([("client", request)], make())
    relay = play([("client", request)], make({"api": "Produce"} | rule))
    assert plain.broker.data == relay.broker.data != request


def test_a_question_to_the_broker_is_no_second_chance() -> None:
    """A request that waits until the broker has named its cluster is asked about once."""

    def make() -> Faulty:
        chances = iter([0.9, 0.0])
        return Faulty(
            {"api": "InitProducerId", "rate": 0.5} | NOT_LEADER, ids=ProducerIds("w", 3), chance=lambda: next(chances)
        )

    request = frames.request(ApiKey.INIT_PRODUCER_ID, 4, 5, {"TransactionalId": "t"})
    named = frames.response(ApiKey.METADATA, 4, 0, {"ClusterId": "c"})
    relay = play([("client", request), ("broker", named)], make)
    assert bytes(relay.broker.data).endswith(request)
    assert relay.noted == []


def test_a_stale_connection_is_spared() -> None:
    """Rebootstrap alone decides what a connection of an earlier epoch gets."""
    request = frames.request(ApiKey.FETCH, 12, 5)
    relay = play([("epoch", b""), ("client", request)], lambda: Faulty({"api": "Fetch"} | NOT_LEADER))
    assert (bytes(relay.broker.data), relay.noted) == (request, [])


def test_rebootstrap_comes_first() -> None:
    """A client that is notified to bootstrap again gets that, and no fault."""
    request = frames.request(ApiKey.METADATA, 13, 5, {"Topics": [{"Name": "t"}]})
    answer = frames.response(ApiKey.METADATA, 13, 5, {"Brokers": [{"NodeId": 7, "Host": "b", "Port": 1}]})

    def make() -> Faulty:
        rule = {"api": "Metadata", "count": 1} | NOT_LEADER
        return Faulty(rule, cluster=Cluster(decides={Trigger.METADATA: Action.NOTIFY}))

    relay = play([("client", request), ("broker", answer)], make)
    assert [rule.hits for rule in relay.rules.all()] == [0], "it waits for a request that can get its fault"
    (found,) = frames.split(bytes(relay.client.data))
    assert frames.understood(ApiKey.METADATA, 13, found)["ErrorCode"] == 129
    assert (bytes(relay.broker.data), relay.noted) == (request, [])


def test_without_rules_nothing_is_different() -> None:
    """With faults enabled and no rule, the broker gets the same bytes, and the same is counted."""
    script: Script = [("client", PING + produce() + frames.request(ApiKey.FETCH, 12, 7)), ("broker", PONG)]
    assert play(script, Faulty).outcome() == play(script).outcome()
