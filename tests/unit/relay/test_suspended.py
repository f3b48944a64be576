"""A flow of requests that is suspended: the request under way ends, and what comes behind it is held."""

from __future__ import annotations

import pytest

from kproxy.producers.producer_ids import ProducerIds
from kproxy.relay.flow import TURN
from tests.support.batches import batch
from tests.unit.relay import frames
from tests.unit.relay.flows import Relay
from tests.unit.relay.own import Own, dialogue, step_request, step_response

IDS = ProducerIds("w", 3)
BEHIND = frames.heartbeat(2)[0]


def produce(producer_id: int, partitions: int = 3) -> bytes:
    """A request with as many batches, whose heads are rewritten."""
    data = [{"Index": index, "Records": batch(producer_id, [b"v" * 50])} for index in range(partitions)]
    return frames.request(0, 11, 1, {"Acks": -1, "TopicData": [{"Name": "t", "PartitionData": data}]})


def rewriting() -> Relay:
    """A connection that rewrites producer ids."""
    relay = Relay(ids=IDS)
    relay.context.cluster_id = "c"
    return relay


def _between(relay: Relay) -> bool:
    return relay.requests.between


def release(relay: Relay) -> None:
    """End the suspension, as a login does."""
    relay.requests.suspended = False
    relay.resolved()


@pytest.mark.parametrize("cut", [100, 200, 300])
def test_a_request_that_is_rewritten(cut: int) -> None:
    """It goes on, wherever it is; the broker has it whole before it is kproxy's turn."""
    relay, sent, wanted = rewriting(), produce(7), produce(IDS.renumbered(7))
    relay.feed("client", sent[:cut])
    assert not relay.requests.between
    relay.requests.suspended = True
    relay.feed("client", sent[cut:] + BEHIND)
    assert bytes(relay.broker.data) == wanted
    assert (relay.requests.between, relay.requests.holding) == (True, True)
    release(relay)
    assert bytes(relay.broker.data) == wanted + BEHIND


def test_a_request_whose_turn_is_over() -> None:
    """What is held of it goes on, and of what is behind it nothing."""
    relay, wanted = rewriting(), produce(IDS.renumbered(7), 3 * TURN)
    relay.feed_held("client", produce(7, 3 * TURN) + BEHIND)
    assert (relay.requests.resting, relay.requests.between) == (True, False)
    relay.requests.suspended = True
    relay.resolved()
    assert bytes(relay.broker.data) == wanted
    assert relay.requests.between
    release(relay)
    assert bytes(relay.broker.data) == wanted + BEHIND


def test_what_is_held_behind_a_dialogue() -> None:
    """Its end does not let the next request go on."""
    relay = Own()
    relay.feed("client", dialogue(5, 1) + BEHIND)
    relay.requests.suspended = True
    assert not relay.requests.between
    relay.feed("broker", step_response(5, 0))
    assert bytes(relay.broker.data) == step_request(5, 0)
    assert _between(relay)
    release(relay)
    assert bytes(relay.broker.data) == step_request(5, 0) + BEHIND
