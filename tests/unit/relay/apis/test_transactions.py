"""A transactional producer's requests to its coordinator, at the cluster that issued its id and at another one."""

from __future__ import annotations

from typing import Any

import pytest

from codegen.schema import load
from kproxy.observe.reasons import Reason
from kproxy.relay.apis import OFFERS, separating
from kproxy.relay.apis.transactions import (
    ADD_OFFSETS,
    ADD_PARTITIONS,
    END_TXN,
    FIRST_BETWEEN_BROKERS,
    NAMES,
    OFFSET_COMMIT,
)
from kproxy.relay.producer_ids import ProducerIds
from tests.unit.relay import frames
from tests.unit.relay.flows import Relay, Script, play

IDS = ProducerIds("west", stay=1)
MINE, ANOTHER = (IDS.issued(7, cluster) for cluster in ("west-1", "east-1"))
ASKED = [
    (key, version)
    for key in NAMES
    for version in frames.versions(key)
    if not (key == ADD_PARTITIONS and version >= FIRST_BETWEEN_BROKERS)
]
FENCED = 90


def at_west() -> Relay:
    relay = Relay(offers={**OFFERS, **separating(IDS)})
    relay.context.leads_to("west-1")
    return relay


def asked(key: int, version: int, producer_id: int) -> bytes:
    """What it asks; AddPartitionsToTxn has its fields under other names."""
    prefix = "V3AndBelow" if key == ADD_PARTITIONS else ""
    fields: dict[str, Any] = {f"{prefix}TransactionalId": "a transaction", f"{prefix}ProducerId": producer_id}
    if key in {ADD_OFFSETS, OFFSET_COMMIT}:
        fields["GroupId"] = "a group"
    return frames.request(key, version, 5, fields)


def forwarded(key: int, version: int, producer_id: int) -> bytes:
    return bytes(play([("client", asked(key, version, producer_id))], at_west).broker.data)


@pytest.mark.parametrize(("key", "version"), ASKED)
def test_its_own_cluster_gets_the_brokers_id(key: int, version: int) -> None:
    """Nothing else differs."""
    assert forwarded(key, version, MINE) == asked(key, version, 7)


@pytest.mark.parametrize(("key", "version"), ASKED)
def test_another_cluster_gets_an_id_that_none_has_issued(key: int, version: int) -> None:
    """Not the number that it may have issued itself; nor one from before kproxy, after a failover."""
    assert forwarded(key, version, ANOTHER) == asked(key, version, ANOTHER)
    assert forwarded(key, version, 7) == asked(key, version, IDS.carried(7))


@pytest.mark.parametrize(("key", "version"), ASKED)
def test_before_any_broker_has_named_its_cluster(key: int, version: int) -> None:
    """The connection ends; the client comes again."""

    def unknown() -> Relay:
        relay = at_west()
        relay.context.cluster_id = relay.cluster.home = relay.cluster.cluster_id = None
        return relay

    relay = play([("client", asked(key, version, MINE))], unknown)
    assert (relay.reason, bytes(relay.broker.data)) == (Reason.UNKNOWN_CLUSTER, b"")


def test_another_connection_may_have_named_the_cluster() -> None:
    """Or kproxy's own client; on a connection of an earlier epoch neither counts."""
    relay = at_west()
    homes = [relay.context.home]
    relay.context.cluster_id = None
    homes.append(relay.context.home)
    relay.cluster.cluster_id = None
    homes.append(relay.context.home)
    relay.cluster.epoch += 1
    homes.append(relay.context.home)
    relay.context.leads_to("east-1")
    homes += [relay.context.home, relay.cluster.home]
    assert homes == ["west-1", "cluster-1", "west-1", None, "east-1", "west-1"]


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
        sent = frames.request(ADD_PARTITIONS, version, 5, {"Transactions": [transaction]})
        assert bytes(play([("client", sent)], at_west).broker.data) == sent


@pytest.mark.parametrize("version", frames.versions(END_TXN))
def test_the_id_of_the_next_transaction(version: int) -> None:
    """From v5 on the broker names it, and the client gets it with its cluster; none where there is an error."""
    for error, producer_id in ((0, 8), (FENCED, -1)):
        content = {"ErrorCode": error, "ProducerId": producer_id, "ProducerEpoch": 3}
        script: Script = [
            ("client", asked(END_TXN, version, MINE)),
            ("broker", frames.response(END_TXN, version, 5, content)),
        ]
        relay = play(script, at_west)
        expected = {**content, "ProducerId": IDS.issued(producer_id, "west-1")}
        assert bytes(relay.client.data) == frames.response(END_TXN, version, 5, expected)
        assert relay.errors() == ({(END_TXN, version): {FENCED: 1}} if error else {})


@pytest.mark.parametrize("key", NAMES)
def test_a_request_that_cannot_be_read(key: int) -> None:
    """The connection ends."""
    assert play([("client", frames.raw_request(key, 3, 5))], at_west).reason is Reason.MALFORMED_REQUEST


def test_an_answer_that_cannot_be_read() -> None:
    """As any."""
    script: Script = [("client", asked(END_TXN, 5, MINE)), ("broker", frames.raw_response(END_TXN, 5, 5, b"??"))]
    assert play(script, at_west).reason is Reason.MALFORMED_RESPONSE


def test_every_request_with_a_producers_id_is_seen_to() -> None:
    """A new one in Kafka's schemas fails here. Those of administrators are of ids that logs and brokers have."""
    found = {
        message.api_key
        for message in load().of_kind("request")
        if "broker" in message.listeners and "ProducerId" in repr(message.struct)
    }
    administrators = {27, 66}  # WriteTxnMarkers, ListTransactions
    assert found == {22, *NAMES, *administrators}


def test_responses_that_name_a_producer_to_a_client() -> None:
    """InitProducerId and EndTxn; Fetch names those of aborted transactions, as they stand in the log."""
    found = {message.api_key for message in load().of_kind("response") if "'ProducerId'" in repr(message.struct)}
    administrators = {27, 61, 65, 66}
    assert found == {1, 22, END_TXN, *administrators}


@pytest.mark.parametrize("key", NAMES)
def test_where_the_id_stands(key: int) -> None:
    """Behind so many strings, in every version, by Kafka's schemas."""
    message = next(one for one in load().of_kind("request") if one.api_key == key)
    for version in [version for asked_key, version in ASKED if asked_key == key]:
        fields = message.struct.plain(version)
        place = next(place for place, field in enumerate(fields) if field.name.endswith("ProducerId"))
        assert [field.type for field in fields[:place]] == ["string"] * NAMES[key]
