"""kproxy.rebootstrap.look_alikes: how many 129s there may be for the clients of one name."""

from __future__ import annotations

import pytest

from kproxy.protocol.connections import ConnectionInfo
from kproxy.rebootstrap.look_alikes import look_alikes
from kproxy.rebootstrap.notified_clients import Client
from kproxy.wire.generated.api_keys import ApiKey
from tests.unit.admin.test_inventory import CONNECTION

JAVA = ("apache-kafka-java", "4.4.0")
FRANZ_GO = ("kgo", "1.22.2")
WRITES = (ApiKey.PRODUCE, False)
READS = (ApiKey.FETCH, False)
LOOKS = (ApiKey.METADATA, False)
JOINS = (ApiKey.JOIN_GROUP, True)
BEATS = (ApiKey.HEARTBEAT, True)


def of(software: tuple[str, str], *uses: tuple[int, bool], node: int | None = 1) -> list[ConnectionInfo]:
    """Connections to one node: the api of each one's last request, and whether it is a group member's."""
    return [
        CONNECTION._replace(software=software, node_id=node, last_api=api, is_member=member) for api, member in uses
    ]


@pytest.mark.parametrize(
    ("connections", "count"),
    [
        (of(JAVA, READS), 1),
        (of(JAVA, READS, BEATS), 1),
        (of(JAVA, READS, WRITES), 2),
        (of(JAVA, READS, READS, BEATS, BEATS, WRITES), 3),
        (of(JAVA, READS) + of(JAVA, READS, node=2), 1),
        (of(JAVA, READS) + of(JAVA, LOOKS, LOOKS, node=None), 1),
        (of(FRANZ_GO, READS, LOOKS), 1),
        (of(FRANZ_GO, READS, BEATS, JOINS), 1),
        (of(FRANZ_GO, WRITES, LOOKS), 1),
        (of(FRANZ_GO, READS, LOOKS) + of(FRANZ_GO, READS, BEATS, JOINS, node=2), 1),
        (of(FRANZ_GO, READS, READS, LOOKS, BEATS, JOINS, JOINS), 3),
        (of(FRANZ_GO, READS, WRITES, LOOKS), 3),
        (of(FRANZ_GO, READS, LOOKS) + of(FRANZ_GO, WRITES, LOOKS, node=2), 2),
    ],
)
def test_how_often_each_may_be_notified(connections: list[ConnectionInfo], count: int) -> None:
    """Once, unless two connections to one node are for the same use; franz-go has one for each kind of request."""
    assert look_alikes(connections) == {
        Client("192.0.2.1", "app", *connections[0].software): count  # type: ignore[misc]
    }


def test_bootstrap_connections_are_nobody() -> None:
    """A client that is only at its bootstrap server has fresh metadata soon."""
    assert look_alikes(of(JAVA, LOOKS, node=None)) == {}


def test_clients_that_differ_are_counted_by_themselves() -> None:
    """By what distinguishes them: here their software."""
    found = look_alikes([*of(JAVA, READS), *of(FRANZ_GO, READS)])
    assert found == {Client("192.0.2.1", "app", *JAVA): 1, Client("192.0.2.1", "app", *FRANZ_GO): 1}
