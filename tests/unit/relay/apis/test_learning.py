"""What a virtual cluster learns from the responses that pass."""

from __future__ import annotations

import pytest

from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import Relay, Script, play, whole

METADATA, DESCRIBE_CLUSTER = 3, 60
IDS = ["cluster-1", "", "c" * 126, "c" * 300, "кластер"]
ALL = [(key, version) for key in (METADATA, DESCRIBE_CLUSTER) for version in frames.versions(key)]


def sent(key: int, version: int, cluster_id: str | None, **content: object) -> bytes:
    nodes = frames.endpoints(frames.BROKERS, "NodeId" if key == METADATA else "BrokerId")
    given = {"Brokers": nodes, "ClusterId": cluster_id, "ControllerId": 7, **content}
    if key == METADATA and version < 2:
        del given["ClusterId"]
    return frames.response(key, version, 5, given)


def exchange(key: int, version: int, response: bytes) -> Script:
    return [("client", frames.request(key, version, 5)), ("broker", response)]


@pytest.mark.parametrize("cluster_id", IDS)
@every(("key", "version"), ALL)
def test_the_clusters_id_is_learnt_with_its_nodes(key: int, version: int, cluster_id: str) -> None:
    """KIP-78: from Metadata v2 on, and from every DescribeCluster, with or without an error message before the id."""
    for content in ({}, {"ErrorMessage": "e" * 200}) if key == DESCRIBE_CLUSTER else ({},):
        relay = play(exchange(key, version, sent(key, version, cluster_id, **content)))
        assert relay.cluster.learnt == [list(frames.BROKERS)]
        assert relay.cluster.learnt_ids == [None if key == METADATA and version < 2 else cluster_id]


@every("version", frames.versions(METADATA, 2))
def test_a_cluster_without_an_id(version: int) -> None:
    """Null is allowed in Metadata."""
    relay = play(exchange(METADATA, version, sent(METADATA, version, None)))
    assert relay.cluster.learnt_ids == [None]


@every(("key", "version"), ALL)
def test_nothing_is_learnt_from_a_stale_connection(key: int, version: int) -> None:
    """Its broker belongs to the earlier topology, and so does its answer; no client gets it."""
    ask, answer = exchange(key, version, sent(key, version, "cluster-1"))
    relay = play([ask, ("epoch", b""), answer])
    assert (relay.reason, relay.cluster.learnt, bytes(relay.client.data)) == (Reason.REBOOTSTRAP, [], b"")
    assert relay.cluster.advertised == []


@every(("key", "version"), [pair for pair in ALL if pair[0] == DESCRIBE_CLUSTER or pair[1] >= 2])
def test_an_id_that_cannot_be_read(key: int, version: int) -> None:
    """Bytes that are no text, or are missing, are the broker's fault, and nothing is learnt."""
    good = sent(key, version, "cluster-1")
    bad = good.replace(b"cluster-1", b"\xff" * 9)
    at = good.index(b"cluster-1")
    short = (at + 4 - 4).to_bytes(4, "big") + good[4 : at + 4]
    for response in (bad, short):
        relay = Relay().play(exchange(key, version, response), whole)
        assert (relay.reason, relay.cluster.learnt) == (Reason.MALFORMED_RESPONSE, [])


def test_a_backend_that_has_no_port_for_a_node() -> None:
    """The cluster's fault ends the connection."""
    relay = Relay()

    def refuse(cluster_id: str | None, nodes: object) -> None:
        raise Fault(Reason.NO_FREE_PORT, "no port")

    relay.cluster.learn = refuse  # type: ignore[method-assign]
    relay.play(exchange(METADATA, 12, sent(METADATA, 12, "c")), whole)
    assert relay.reason is Reason.NO_FREE_PORT
