"""InitProducerId: behind several upstream clusters an id has its cluster in it; everything else passes as it is."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.observe.reasons import Reason
from kproxy.relay.apis import OFFERS, separating
from kproxy.relay.apis.a22_init_producer_id import METADATA_VERSION
from kproxy.relay.producer_ids import ProducerIds
from kproxy.wire.apis import APIS
from kproxy.wire.generated.metadata_request import MetadataRequest
from kproxy.wire.header import decode_request_header
from tests.unit.relay import frames
from tests.unit.relay.flows import Relay, Script, Side, play

KEY, METADATA, DESCRIBE_CLUSTER = 22, 3, 60
VERSIONS = frames.versions(KEY)
IDS = ProducerIds("west", stay=3)
AUTHORIZATION_FAILED = 31


def at_west() -> Relay:
    """A connection behind several upstream clusters, in the third stay."""
    return Relay(offers={**OFFERS, **separating(IDS)})


def asked(version: int, number: int = 5, **fields: Any) -> bytes:
    return frames.request(KEY, version, number, {"TransactionalId": None, **fields})


def answered(version: int, number: int = 5, producer_id: int = 7, error: int = 0) -> bytes:
    content = {"ProducerId": producer_id, "ProducerEpoch": 0, "ErrorCode": error, "ThrottleTimeMs": 9}
    return frames.response(KEY, version, number, content)


def named(number: int = 5, cluster_id: str | None = "west-1") -> bytes:
    """The broker's answer to what kproxy asks."""
    return frames.response(METADATA, METADATA_VERSION, number, {"ClusterId": cluster_id})


def metadata(number: int, version: int = 12) -> Script:
    """The client learns the cluster on this connection."""
    content = {"ClusterId": "west-1", "Brokers": frames.endpoints(frames.BROKERS)}
    response = frames.response(METADATA, version, number, content)
    return [("client", frames.request(METADATA, version, number)), ("broker", response)]


@pytest.mark.parametrize("version", VERSIONS)
def test_behind_one_cluster_it_passes(version: int) -> None:
    """Nothing is asked, nothing is added."""
    relay = play([("client", asked(version)), ("broker", answered(version))])
    assert (bytes(relay.broker.data), bytes(relay.client.data)) == (asked(version), answered(version))


@pytest.mark.parametrize("version", VERSIONS)
def test_an_id_gets_its_cluster(version: int) -> None:
    """The broker is asked by the client's own request, then which cluster it is of; only the id differs."""
    script: Script = [("client", asked(version)), ("broker", answered(version)), ("broker", named())]
    relay = play(script, at_west)
    assert bytes(relay.client.data) == answered(version, producer_id=IDS.issued(7, "west-1"))
    assert relay.cluster.counters.producer_ids_issued == 1
    first, second = frames.split(bytes(relay.broker.data))
    assert first == asked(version)[4:]
    header, body = decode_request_header(second, 0, len(second))
    assert header[:4] == (METADATA, METADATA_VERSION, 5, "c1")
    request = MetadataRequest.decode(second[body:], METADATA_VERSION)
    assert (request.topics, request.allow_auto_topic_creation) == ([], False)


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_is_added_where_the_connection_has_named_the_cluster(version: int) -> None:
    """In a Metadata response of this connection, before."""
    script = [*metadata(4), ("client", asked(version)), ("broker", answered(version))]
    relay = play(script, at_west)
    assert len(frames.split(bytes(relay.broker.data))) == 2
    assert frames.split(bytes(relay.client.data))[1] == answered(version, producer_id=IDS.issued(7, "west-1"))[4:]


def test_described_cluster() -> None:
    """A DescribeCluster response names it, too."""
    content = {"ClusterId": "west-1", "Brokers": frames.endpoints(frames.BROKERS, "BrokerId")}
    script: Script = [
        ("client", frames.request(DESCRIBE_CLUSTER, 1, 4)),
        ("broker", frames.response(DESCRIBE_CLUSTER, 1, 4, content)),
        ("client", asked(4)),
        ("broker", answered(4)),
    ]
    relay = play(script, at_west)
    assert frames.split(bytes(relay.client.data))[1] == answered(4, producer_id=IDS.issued(7, "west-1"))[4:]


def test_several_producers_on_a_connection() -> None:
    """The cluster is asked for once; what comes behind a request waits, and is answered in its turn."""
    ping, pong = frames.heartbeat(7)
    script: Script = [
        ("client", asked(4, 5) + asked(3, 6) + ping),
        ("broker", answered(4, 5)),
        ("broker", named()),
        ("broker", answered(3, 6, 8)),
        ("broker", pong),
    ]
    relay = play(script, at_west)
    own = [answered(4, 5, IDS.issued(7, "west-1")), answered(3, 6, IDS.issued(8, "west-1"))]
    assert bytes(relay.client.data) == b"".join([*own, pong])
    assert len(frames.split(bytes(relay.broker.data))) == 4


def test_an_error_passes() -> None:
    """It is counted, and no cluster is asked for: the client may try again, or not."""
    refused = answered(4, producer_id=-1, error=AUTHORIZATION_FAILED)
    relay = play([("client", asked(4)), ("broker", refused)], at_west)
    assert bytes(relay.client.data) == refused
    assert relay.errors() == {(KEY, 4): {AUTHORIZATION_FAILED: 1}}


@pytest.mark.parametrize("answer", [named(cluster_id=None), named(cluster_id=""), frames.raw_response(3, 4, 5, b"?")])
def test_a_broker_that_names_no_cluster(answer: bytes) -> None:
    """The upstream's name stands for it: it still differs from the other upstreams'."""
    relay = play([("client", asked(4)), ("broker", answered(4)), ("broker", answer)], at_west)
    assert bytes(relay.client.data) == answered(4, producer_id=IDS.issued(7, None))


def test_an_answer_that_cannot_be_read() -> None:
    """It could be an id that means two producers, so the connection ends."""
    sent = frames.raw_response(KEY, 4, 5, b"?")
    assert play([("client", asked(4)), ("broker", sent)], at_west).reason is Reason.MALFORMED_RESPONSE


def test_a_request_that_cannot_be_read() -> None:
    """Whether it is of a transaction is not known."""
    assert play([("client", frames.raw_request(KEY, 4, 5))], at_west).reason is Reason.MALFORMED_REQUEST


@pytest.mark.parametrize("version", [3, 4, 5])
@pytest.mark.parametrize("named_before", [True, False])
def test_a_transactional_producer_goes_on(version: int, named_before: bool) -> None:
    """It tells its id (KIP-360): its own cluster gets the broker's; one that it came to gets none, and begins anew."""
    mine, another = (IDS.issued(7, cluster) for cluster in ("west-1", "east-1"))
    for told, id_and_epoch in ((mine, (7, 2)), (another, (-1, -1)), (-1, (-1, -1)), (1 << 40, (1 << 40, 2))):
        epoch = -1 if told < 0 else 2
        question = asked(version, TransactionalId="t", ProducerId=told, ProducerEpoch=epoch)
        says: Script = [("broker", answered(version, producer_id=8))]
        asks: Script = [("broker", named())]
        begins: Script = [("client", question)]
        if named_before:
            script = [*metadata(4), *begins, *says]
        else:
            script = [*begins, *asks, *says] if told in {mine, another} else [*begins, *says, *asks]
        relay = play(script, at_west)
        expected = asked(version, TransactionalId="t", ProducerId=id_and_epoch[0], ProducerEpoch=id_and_epoch[1])
        assert expected[4:] in frames.split(bytes(relay.broker.data))
        assert frames.split(bytes(relay.client.data))[-1] == answered(version, producer_id=IDS.issued(8, "west-1"))[4:]


def test_a_transactional_producer_of_a_broker_that_names_no_cluster() -> None:
    """Whether the id is its own is not known: it begins anew. One that got its id there goes on."""
    for told, id_and_epoch in ((IDS.issued(7, "west-1"), (-1, -1)), (IDS.issued(7, None), (7, 2))):
        question = asked(4, TransactionalId="t", ProducerId=told, ProducerEpoch=2)
        nameless: tuple[Side, bytes] = ("broker", named(cluster_id=None))
        relay = play([("client", question), nameless, ("broker", answered(4)), nameless], at_west)
        expected = asked(4, TransactionalId="t", ProducerId=id_and_epoch[0], ProducerEpoch=id_and_epoch[1])
        assert frames.split(bytes(relay.broker.data))[1] == expected[4:]


def test_the_question_is_one_that_brokers_know() -> None:
    """A release of Kafka without this version of Metadata would hang up."""
    assert APIS[METADATA].min_version <= METADATA_VERSION <= APIS[METADATA].max_version
