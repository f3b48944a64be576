"""What handlers know about a connection."""

from __future__ import annotations

import pytest

from kproxy.observe.reasons import Reason
from kproxy.protocol.context import ConnectionState, Context
from kproxy.protocol.fault import Fault
from tests.unit.relay.flows import Cluster, port_of


def context(cluster: Cluster) -> Context:
    return Context(cluster, 7, "client:1", "10.9.8.7")


@pytest.mark.parametrize("node_id", [0, 7, 1001, 2147483646])
def test_a_node_is_advertised(node_id: int) -> None:
    """The cluster is asked, and gets the address that the client reached kproxy by."""
    cluster = Cluster()
    assert context(cluster).advertise(node_id, "b", 9092) == ("proxy.example", port_of(node_id))
    assert cluster.advertised == [(node_id, "b", 9092, "10.9.8.7")]


@pytest.mark.parametrize(("node_id", "host", "port"), [(-1, "", -1), (-1, "b", 9092), (5, "", 0), (-2147483648, "", 0)])
def test_an_absent_node_stays_absent(node_id: int, host: str, port: int) -> None:
    """Without an id or a host the cluster is not asked, so no port is bound for the node."""
    cluster = Cluster()
    assert context(cluster).advertise(node_id, host, port) == (host, port)
    assert cluster.advertised == []


def test_a_client_introduces_itself() -> None:
    """The last name and version are kept; the first are counted, once."""
    cluster = Cluster()
    found = context(cluster)
    assert (found.client_id, found.principal, found.software, found.software_label) == (None,) * 4
    found.introduce("librdkafka", "2.12.0")
    found.introduce("other", "1")
    assert (found.client_id, found.principal, found.software) == (None, None, ("other", "1"))
    assert found.software_label == ("librdkafka", "2.12.0")
    assert cluster.counters.software.total == {("librdkafka", "2.12.0"): 1}


def test_a_name_that_is_no_label() -> None:
    """A name that KIP-511 does not allow is counted as unknown, and kept for the log: its first 256 characters."""
    cluster = Cluster()
    found = context(cluster)
    found.introduce("a\nb" + "y" * 500, "x" * 500)
    assert found.software == ("a\nb" + "y" * 253, "x" * 256)
    assert found.software_label == ("unknown", "unknown")


@pytest.mark.parametrize(
    ("client", "host", "port"),
    [
        ("10.0.0.9:1234", "10.0.0.9", 1234),
        ("[::1]:1234", "::1", 1234),
        ("[fe80::2%1]:9", "fe80::2%1", 9),
        ("unknown", "", None),
    ],
)
def test_the_address_of_a_client(client: str, host: str, port: int | None) -> None:
    """The host has no brackets, so a client that returns is recognized; a client that was gone has no port."""
    found = Context(Cluster(), None, client, "10.9.8.7")
    assert (found.host, found.port) == (host, port)


def test_a_stale_connection_gets_no_address() -> None:
    """Its broker belongs to the earlier topology: the cluster is not asked for the node; an absent one passes."""
    cluster = Cluster()
    found = context(cluster)
    before = found.stale
    cluster.epoch = 1
    assert (before, found.stale) == (False, True)
    with pytest.raises(Fault) as caught:
        found.advertise(7, "b", 9092)
    assert (caught.value.reason, cluster.advertised) == (Reason.REBOOTSTRAP, [])
    assert found.advertise(-1, "", -1) == ("", -1)
    assert not context(cluster).stale


class Kept:
    """What a room keeps about a connection."""


def test_a_room_keeps_its_own_state() -> None:
    """Made at the first call, the same from then on, gone when it is forgotten; to forget nothing is no error."""
    found = context(Cluster())
    found.forget(Kept)
    assert found.find(Kept) is None
    kept = found.state(Kept)
    assert (found.state(Kept), found.find(Kept)) == (kept, kept)
    found.forget(Kept)
    found.forget(Kept)
    assert found.find(Kept) is None
    assert found.state(Kept) is not kept


class Other:
    """What another room keeps."""


def test_rooms_learn_that_a_connection_has_ended() -> None:
    """Those that ask for it, by the base of their state."""
    found = context(Cluster())
    found.end()
    kept, other = found.state(ConnectionState), found.state(Other)
    gone = [kept.gone]
    found.end()
    assert [*gone, kept.gone] == [False, True]
    assert not hasattr(other, "gone")
