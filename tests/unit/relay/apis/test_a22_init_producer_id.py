"""InitProducerId: behind several upstream clusters an id has its cluster in it; everything else passes as it is."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.observe.reasons import Reason
from kproxy.relay.apis.a22_init_producer_id import METADATA_VERSION
from kproxy.relay.producer_ids import ProducerIds
from kproxy.wire.apis import APIS
from kproxy.wire.generated.metadata_request import MetadataRequest
from kproxy.wire.header import decode_request_header
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, Relay, Script, play

KEY, METADATA, DESCRIBE_CLUSTER = 22, 3, 60
VERSIONS = frames.versions(KEY)
IDS = ProducerIds("west", stay=3)
AUTHORIZATION_FAILED = 31


def separating() -> Relay:
    """A connection behind several upstream clusters, in the third stay."""
    cluster = Cluster()
    cluster.producer_ids = IDS
    return Relay(cluster)


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
def test_a_transactional_producer_keeps_its_id(version: int) -> None:
    """Its coordinator looks at it."""
    sent = asked(version, TransactionalId="t")
    relay = play([("client", sent), ("broker", answered(version))], separating)
    assert (bytes(relay.broker.data), bytes(relay.client.data)) == (sent, answered(version))


@pytest.mark.parametrize("version", VERSIONS)
def test_an_id_gets_its_cluster(version: int) -> None:
    """The broker is asked by the client's own request, then which cluster it is of; only the id differs."""
    script: Script = [("client", asked(version)), ("broker", answered(version)), ("broker", named())]
    relay = play(script, separating)
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
    relay = play(script, separating)
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
    relay = play(script, separating)
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
    relay = play(script, separating)
    own = [answered(4, 5, IDS.issued(7, "west-1")), answered(3, 6, IDS.issued(8, "west-1"))]
    assert bytes(relay.client.data) == b"".join([*own, pong])
    assert len(frames.split(bytes(relay.broker.data))) == 4


def test_an_error_passes() -> None:
    """It is counted, and no cluster is asked for: the client may try again, or not."""
    refused = answered(4, producer_id=-1, error=AUTHORIZATION_FAILED)
    relay = play([("client", asked(4)), ("broker", refused)], separating)
    assert bytes(relay.client.data) == refused
    assert relay.errors() == {(KEY, 4): {AUTHORIZATION_FAILED: 1}}


@pytest.mark.parametrize("answer", [named(cluster_id=None), named(cluster_id=""), frames.raw_response(3, 4, 5, b"?")])
def test_a_broker_that_names_no_cluster(answer: bytes) -> None:
    """The upstream's name stands for it: it still differs from the other upstreams'."""
    relay = play([("client", asked(4)), ("broker", answered(4)), ("broker", answer)], separating)
    assert bytes(relay.client.data) == answered(4, producer_id=IDS.issued(7, None))


def test_an_answer_that_cannot_be_read() -> None:
    """It could be an id that means two producers, so the connection ends."""
    sent = frames.raw_response(KEY, 4, 5, b"?")
    assert play([("client", asked(4)), ("broker", sent)], separating).reason is Reason.MALFORMED_RESPONSE


def test_a_request_that_cannot_be_read() -> None:
    """Whether it is of a transaction is not known."""
    assert play([("client", frames.raw_request(KEY, 4, 5))], separating).reason is Reason.MALFORMED_REQUEST


def test_a_reload_that_ends_it_meanwhile() -> None:
    """The id is the broker's then."""
    relay = separating()
    relay.feed("client", asked(4))
    relay.cluster.producer_ids = None
    relay.feed("broker", answered(4))
    relay.feed("broker", named())
    assert bytes(relay.client.data) == answered(4)


def test_the_question_is_one_that_brokers_know() -> None:
    """A release of Kafka without this version of Metadata would hang up."""
    assert APIS[METADATA].min_version <= METADATA_VERSION <= APIS[METADATA].max_version
