"""Producer ids on their way between clients and the brokers of several clusters."""

from __future__ import annotations

from typing import Any

import pytest

from codegen.extraction import load
from kproxy.observe.reasons import Reason
from kproxy.producers.policies import (
    FIRST_BETWEEN_BROKERS,
    METADATA_VERSION,
    NAMES,
)
from kproxy.producers.producer_ids import ProducerIds
from kproxy.wire.apis import APIS
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.metadata_request import MetadataRequest
from kproxy.wire.header import decode_request_header
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import Relay, Script, play

IDS = ProducerIds("west", failovers=1)
MINE, ANOTHER = (IDS.issued(7, cluster) for cluster in ("west-1", "east-1"))
ASKED = [
    (key, version)
    for key in NAMES
    for version in frames.versions(key)
    if not (key == ApiKey.ADD_PARTITIONS_TO_TXN and version >= FIRST_BETWEEN_BROKERS)
]
FENCED, AUTHORIZATION_FAILED = 90, 31
METADATA, INIT, DESCRIBE_CLUSTER = 3, 22, 60


def at_west() -> Relay:
    relay = Relay(ids=IDS)
    relay.context.cluster_id = "west-1"
    return relay


def unnamed() -> Relay:
    return Relay(ids=IDS)


def init(version: int, **fields: Any) -> bytes:
    return frames.request(INIT, version, 5, {"TransactionalId": None, **fields})


def answered(version: int, producer_id: int = 7, error: int = 0) -> bytes:
    content = {"ProducerId": producer_id, "ProducerEpoch": 0, "ErrorCode": error, "ThrottleTimeMs": 9}
    return frames.response(INIT, version, 5, content)


def named() -> bytes:
    """Return the broker's answer to kproxy's question."""
    return frames.response(METADATA, METADATA_VERSION, 0, {"ClusterId": "west-1"})


def asked(key: int, version: int, producer_id: int) -> bytes:
    """Return a transactional producer's request; AddPartitionsToTxn has its fields under other names."""
    prefix = "V3AndBelow" if key == ApiKey.ADD_PARTITIONS_TO_TXN else ""
    fields: dict[str, Any] = {f"{prefix}TransactionalId": "a transaction", f"{prefix}ProducerId": producer_id}
    if key in {ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.TXN_OFFSET_COMMIT}:
        fields["GroupId"] = "a group"
    return frames.request(key, version, 5, fields)


def forwarded(key: int, version: int, producer_id: int) -> bytes:
    return bytes(play([("client", asked(key, version, producer_id))], at_west).broker.data)


@every(("key", "version"), ASKED)
def test_its_own_cluster_gets_the_brokers_id(key: int, version: int) -> None:
    """Nothing else differs."""
    assert forwarded(key, version, MINE) == asked(key, version, 7)


@every(("key", "version"), ASKED)
def test_another_cluster_gets_an_id_that_none_has_issued(key: int, version: int) -> None:
    """It gets neither the number that it may have issued itself, nor, after a failover, one from before kproxy."""
    assert forwarded(key, version, ANOTHER) == asked(key, version, ANOTHER)
    assert forwarded(key, version, 7) == asked(key, version, IDS.renumbered(7))


@every(("key", "version"), [*ASKED, *((INIT, version) for version in frames.versions(INIT))])
def test_a_connection_that_has_not_named_its_cluster(key: int, version: int) -> None:
    """Its broker is asked first, in the client's name; later requests wait for both, and the order is kept."""
    ping, pong = frames.heartbeat(7)
    request = init(version) if key == INIT else asked(key, version, MINE)
    reply = answered(version) if key == INIT else frames.response(key, version, 5)
    script: Script = [("client", request + ping), ("broker", named()), ("broker", reply), ("broker", pong)]
    relay = play(script, unnamed)
    question, first, second = frames.split(bytes(relay.broker.data))
    assert (first, second) == ((init(version) if key == INIT else asked(key, version, 7))[4:], ping[4:])
    header, body = decode_request_header(question, 0, len(question))
    assert header[:4] == (METADATA, METADATA_VERSION, 0, "c1")
    metadata = MetadataRequest.decode(question[body:], METADATA_VERSION)
    assert (metadata.topics, metadata.allow_auto_topic_creation) == ([], False)
    assert len(frames.split(bytes(relay.client.data))) == 2
    assert relay.cluster.counters.apis.keys() == {(key, version), (12, 3)}


def test_a_response_that_has_named_the_cluster() -> None:
    """A response to the client's own Metadata or DescribeCluster on this connection does: then kproxy asks nothing."""
    for key, version in ((METADATA, 12), (DESCRIBE_CLUSTER, 1)):
        content = {
            "ClusterId": "west-1",
            "Brokers": frames.endpoints(frames.BROKERS, "NodeId" if key == METADATA else "BrokerId"),
        }
        script: Script = [
            ("client", frames.request(key, version, 4)),
            ("broker", frames.response(key, version, 4, content)),
            ("client", init(4)),
            ("broker", answered(4)),
        ]
        relay = play(script, unnamed)
        assert len(frames.split(bytes(relay.broker.data))) == 2
        assert frames.split(bytes(relay.client.data))[1] == answered(4, IDS.issued(7, "west-1"))[4:]


def test_the_question_is_one_that_brokers_know() -> None:
    """A Kafka release without this version of Metadata would close the connection."""
    assert APIS[METADATA].min_version <= METADATA_VERSION <= APIS[METADATA].max_version


@every("version", frames.versions(INIT))
def test_behind_one_cluster_everything_passes(version: int) -> None:
    """Nothing is asked, and nothing is added."""
    relay = play([("client", init(version)), ("broker", answered(version))])
    assert (bytes(relay.broker.data), bytes(relay.client.data)) == (init(version), answered(version))


@every("version", frames.versions(INIT))
@pytest.mark.parametrize("transactional_id", [None, "t"])
def test_an_id_gets_its_cluster(version: int, transactional_id: str | None) -> None:
    """The broker gets the client's own request; only the id differs in its answer. An error passes, and is counted."""
    question = init(version, TransactionalId=transactional_id)
    relay = play([("client", question), ("broker", answered(version))], at_west)
    assert (bytes(relay.broker.data), bytes(relay.client.data)) == (
        question,
        answered(version, IDS.issued(7, "west-1")),
    )
    assert (relay.cluster.counters.producer_ids_issued, relay.errors()) == (1, {})
    refused = answered(version, -1, AUTHORIZATION_FAILED)
    relay = play([("client", question), ("broker", refused)], at_west)
    assert bytes(relay.client.data) == refused
    assert relay.errors() == {(INIT, version): {AUTHORIZATION_FAILED: 1}}
    assert relay.cluster.counters.producer_ids_issued == 0


@pytest.mark.parametrize("version", [3, 4, 5])
def test_a_transactional_producer_goes_on(version: int) -> None:
    """It sends its id (KIP-360): its own cluster gets the broker's id; at another one it begins anew."""
    for sent, expected in ((MINE, (7, 2)), (ANOTHER, (-1, -1)), (7, (-1, -1)), (1 << 40, (1 << 40, 2))):
        question = init(version, TransactionalId="t", ProducerId=sent, ProducerEpoch=2)
        forwarded = init(version, TransactionalId="t", ProducerId=expected[0], ProducerEpoch=expected[1])
        assert bytes(play([("client", question)], at_west).broker.data) == forwarded


def test_an_idempotent_producer_that_sends_its_id() -> None:
    """Brokers ignore it: it passes."""
    question = init(4, ProducerId=MINE, ProducerEpoch=2)
    assert bytes(play([("client", question)], at_west).broker.data) == question


def test_between_brokers() -> None:
    """AddPartitionsToTxn v4 and v5 pass: clients send v3 at most (KIP-890)."""
    for version in (4, 5):
        transaction = {
            "TransactionalId": "t",
            "ProducerId": MINE,
            "ProducerEpoch": 0,
            "VerifyOnly": False,
            "Topics": [],
        }
        sent = frames.request(ApiKey.ADD_PARTITIONS_TO_TXN, version, 5, {"Transactions": [transaction]})
        assert bytes(play([("client", sent)], at_west).broker.data) == sent


@every("version", frames.versions(ApiKey.END_TXN))
def test_the_id_of_the_next_transaction(version: int) -> None:
    """From v5 on the broker names it, and the client gets it with its cluster; with an error there is none."""
    for error, producer_id in ((0, 8), (FENCED, -1)):
        content = {"ErrorCode": error, "ProducerId": producer_id, "ProducerEpoch": 3}
        script: Script = [
            ("client", asked(ApiKey.END_TXN, version, MINE)),
            ("broker", frames.response(ApiKey.END_TXN, version, 5, content)),
        ]
        relay = play(script, at_west)
        expected = {**content, "ProducerId": IDS.issued(producer_id, "west-1")}
        assert bytes(relay.client.data) == frames.response(ApiKey.END_TXN, version, 5, expected)
        assert relay.errors() == ({(ApiKey.END_TXN, version): {FENCED: 1}} if error else {})
        assert relay.cluster.counters.producer_ids_issued == 0


@pytest.mark.parametrize("key", [INIT, *NAMES])
def test_a_request_that_cannot_be_read(key: int) -> None:
    """The connection ends."""
    assert play([("client", frames.raw_request(key, 3, 5))], at_west).reason is Reason.MALFORMED_REQUEST


def test_an_answer_that_cannot_be_read() -> None:
    """The connection ends, as for any answer."""
    for key, request in ((ApiKey.END_TXN, asked(ApiKey.END_TXN, 5, MINE)), (INIT, init(5))):
        script: Script = [("client", request), ("broker", frames.raw_response(key, 5, 5, b"??"))]
        assert play(script, at_west).reason is Reason.MALFORMED_RESPONSE


def test_every_request_with_a_producers_id_is_seen_to() -> None:
    """A new API in Kafka's schemas fails here. Administrators' requests have ids from logs and brokers."""
    found = {
        message.api_key
        for message in load().of_kind("request")
        if "broker" in message.listeners and "ProducerId" in repr(message.struct)
    }
    administrators = {27, 66}  # WriteTxnMarkers, ListTransactions
    assert found == {22, *NAMES, *administrators}


def test_responses_that_name_a_producer_to_a_client() -> None:
    """They are InitProducerId and EndTxn; Fetch names the producers of aborted transactions, as in the log."""
    found = {message.api_key for message in load().of_kind("response") if "'ProducerId'" in repr(message.struct)}
    administrators = {27, 61, 65, 66}
    assert found == {1, 22, ApiKey.END_TXN, *administrators}


@pytest.mark.parametrize("key", NAMES)
def test_where_the_id_stands(key: int) -> None:
    """It follows this many strings, in every version, by Kafka's schemas."""
    message = next(one for one in load().of_kind("request") if one.api_key == key)
    for version in [version for asked_key, version in ASKED if asked_key == key]:
        fields = message.struct.plain(version)
        place = next(place for place, field in enumerate(fields) if field.name.endswith("ProducerId"))
        assert [field.type for field in fields[:place]] == ["string"] * NAMES[key]
