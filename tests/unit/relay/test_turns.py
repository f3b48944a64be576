"""How much of one connection is looked at before others get their turn, in frames: no machine changes that."""

from __future__ import annotations

import pytest

from kproxy.observe.reasons import Reason
from kproxy.producers.producer_ids import ProducerIds
from kproxy.relay.flow import TURN
from kproxy.wire.primitives import INT32
from tests.support.batches import batch
from tests.unit.relay import frames
from tests.unit.relay.flows import KIB, Relay, play
from tests.unit.relay.sockets import eventually, request, response, stage

PIPELINED = 9300
"""As many requests of 14 bytes as the pump reads at once."""


def _ids(data: bytes) -> list[int]:
    return [INT32.unpack_from(frame, 4)[0] for frame in frames.split(data)]


@pytest.mark.parametrize("step", [1, -1], ids=["ascending", "descending"])
def test_requests_of_one_read(step: int) -> None:
    """Of many requests in one piece, only a turn's worth goes to the broker in a turn; in the end all do, in order."""
    relay, ids = Relay(), range(1, PIPELINED + 1)[::step]
    seen: list[int] = []
    go_on = relay.requests.go_on

    relay.feed_held("client", b"".join(request(number) for number in ids))
    seen.append(relay.requests.count)
    while relay.requests.may_go_on:
        go_on(relay.now)
        seen.append(relay.requests.count - sum(seen))
    assert max(seen) <= TURN
    assert _ids(bytes(relay.broker.data)) == list(ids)
    assert relay.reason is None


def test_responses_of_one_read() -> None:
    """The same for what the broker sends."""
    relay, ids = Relay(), range(1, 3 * TURN)
    relay.feed("client", b"".join(request(number) for number in ids))
    relay.feed_held("broker", b"".join(response(number) for number in ids))
    seen = [relay.responses.count]
    while relay.responses.resting:
        relay.responses.go_on(relay.now)
        relay.responses.settle(relay.now)
        seen.append(relay.responses.count - sum(seen))
    assert max(seen) <= TURN
    assert bytes(relay.client.data) == b"".join(response(number) for number in ids)


def test_large_frames_that_are_decoded_cost_more() -> None:
    """A turn has fewer of the frames that are handled whole: their bytes are counted, too."""
    relay = Relay()
    relay.feed_held("client", b"".join(frames.raw_request(18, 3, number, bytes(8 * KIB)) for number in range(1, 100)))
    assert relay.requests.count <= 1 + TURN // (8 * KIB >> 8)


def test_turns_change_nothing_but_the_time() -> None:
    """Whatever the pieces, the same bytes go to both sides, in their order, and the same is counted."""
    ids = range(1, 2 * TURN + 9)
    asked, answered = (b"".join(make(number) for number in ids) for make in (request, response))
    relay = play([("client", asked), ("broker", answered)])
    assert (bytes(relay.broker.data), bytes(relay.client.data)) == (asked, answered)
    assert relay.turns >= 2


def test_a_request_of_many_batches_that_are_rewritten() -> None:
    """A batch whose head changes counts like a frame: a request of hundreds of them takes several turns."""
    ids = ProducerIds("w", 3)

    def produce(producer_id: int) -> bytes:
        data = [{"Index": index, "Records": batch(producer_id, [b"v"])} for index in range(3 * TURN)]
        return frames.request(0, 11, 1, {"Acks": -1, "TopicData": [{"Name": "t", "PartitionData": data}]})

    relay = Relay(ids=ids)
    relay.context.cluster_id = "c"
    relay.feed_held("client", produce(7))
    assert relay.requests.resting
    relay.resolved()
    assert bytes(relay.broker.data) == produce(ids.renumbered(7))
    assert relay.turns >= 2


async def test_another_connection_goes_between_the_turns() -> None:
    """While one client's pipelined requests are looked at, another's reach their broker between two turns."""
    async with stage() as running:
        flooding, other = running.relay(), running.relay()
        flooding.client.sock.send(b"".join(request(number) for number in range(1, 1001)))
        counts: list[int] = []
        for number in range(1, 7):
            await other.client.send(request(number))
            assert await other.broker.receive(len(request(number))) == request(number)
            counts.append(flooding.connection.requests.count)
            await other.broker.send(response(number))
            assert await other.client.receive(len(response(number))) == response(number)
        assert counts[0] < 1000, "all of the flood went first"
        await eventually(lambda: flooding.connection.requests.count == 1000, "the flood's last request")


async def test_what_is_held_back_for_a_turn_is_answered_in_a_drain() -> None:
    """A drain takes what was received, also what no turn has looked at yet."""
    async with stage() as running:
        relayed = running.relay()
        asked = [request(number) for number in range(1, 4 * TURN)]
        relayed.client.sock.send(b"".join(asked))
        await eventually(lambda: relayed.connection.requests.count > 0, "a first turn")
        running.pump.drain_one(relayed.connection)
        assert await relayed.broker.receive(len(b"".join(asked))) == b"".join(asked)
        answers = b"".join(response(number) for number in range(1, 4 * TURN))
        await relayed.broker.send(answers)
        assert await relayed.client.receive(len(answers)) == answers
        await relayed.ended(Reason.DRAINED)
