"""Produce requests whose batches are rewritten to other producer ids, in any shape and cut in any way."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kproxy.producers.producer_ids import ProducerIds
from tests.property.test_relay_flows import pieces
from tests.support.batches import batch
from tests.unit.relay import frames
from tests.unit.relay.flows import Relay

IDS = st.one_of(
    st.just(-1),
    st.integers(0, (1 << 38) - 1),
    st.builds(
        ProducerIds.issued, st.builds(ProducerIds, st.just("w"), st.integers(0, 3)), st.integers(0, 999), st.just("c")
    ),
)
VALUES = st.lists(st.binary(max_size=3000), min_size=1, max_size=4)
STAYS = st.builds(ProducerIds, st.just("w"), st.integers(0, 20), st.booleans())
_STEPS = st.lists(st.integers(1, 700), min_size=1, max_size=30)


def at(ids: ProducerIds) -> Relay:
    """Return a connection to a broker of cluster "c"."""
    relay = Relay(ids=ids)
    relay.context.cluster_id = "c"
    return relay


@st.composite
def requests(draw: st.DrawFn, number: int, ids: ProducerIds) -> tuple[bytes, bytes]:
    """Draw a request of one producer, as the client sends it, and as the broker must get it."""
    version, producer_id = draw(st.integers(3, 13)), draw(IDS)
    transactional = producer_id >= 0 and draw(st.booleans())
    written_as = ids.in_transaction(producer_id, "c") if transactional else ids.renumbered(producer_id)
    written = draw(st.lists(st.lists(st.none() | VALUES, max_size=3), max_size=3))
    acks = draw(st.sampled_from([-1, 0, 1]))

    def made(of: int) -> bytes:
        topics: list[dict[str, Any]] = []
        for index, partitions in enumerate(written):
            data = [
                {"Index": place, "Records": values and batch(of, values, transactional=transactional)}
                for place, values in enumerate(partitions)
            ]
            topics.append({"Name": f"topic-{index}", "TopicId": bytes((index,)) * 16, "PartitionData": data})
        name = "t" * draw_length if transactional else None
        return frames.request(0, version, number, {"TransactionalId": name, "Acks": acks, "TopicData": topics})

    draw_length = draw(st.integers(0, 300))
    return made(producer_id), made(written_as)


@given(st.data(), STAYS, _STEPS)
@settings(max_examples=200)
def test_every_batch_goes_on_under_its_id(data: st.DataObject, ids: ProducerIds, steps: list[int]) -> None:
    """The broker gets what the client would have sent with that id, checksums too; nothing else differs."""
    sent = [data.draw(requests(number, ids)) for number in range(data.draw(st.integers(1, 4)))]
    relay = at(ids)
    for piece in pieces(b"".join(request for request, _ in sent), steps):
        relay.feed("client", piece)
    assert relay.reason is None
    assert bytes(relay.broker.data) == b"".join(written_as for _, written_as in sent)
    assert not relay.requests.under_way


@given(st.binary(max_size=400), st.integers(3, 13), _STEPS)
@settings(max_examples=300)
def test_no_request_breaks_more_than_its_connection(rest: bytes, version: int, steps: list[int]) -> None:
    """Any bytes as a Produce request: it passes, waits for more, or ends with a reason."""
    relay = at(ProducerIds("w", 1))
    for piece in pieces(frames.raw_request(0, version, 1, rest), steps):
        relay.feed("client", piece)
    assert relay.requests.held_bytes <= 1 << 20
