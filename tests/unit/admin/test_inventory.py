"""kproxy.admin.inventory: connections as the clients that they belong to."""

from __future__ import annotations

from itertools import permutations

import pytest

from kproxy.admin.inventory import GroupedClients
from kproxy.protocol.connections import ConnectionInfo

CONNECTION = ConnectionInfo(
    id=1,
    cluster="main",
    node_id=None,
    client="192.0.2.1:40000",
    host="192.0.2.1",
    port=40000,
    upstream="broker:9092",
    opened=1_700_000_000.0,
    epoch=0,
    client_id="app",
    principal="User:alice",
    software=("apache-kafka-java", "4.4.0"),
    metadata_version=-1,
    kip_1242=None,
    is_member=False,
    last_api=-1,
    requests=0,
    responses=0,
    bytes_in=0,
    bytes_out=0,
    in_flight=0,
    paused=(),
)


def test_what_all_connections_show() -> None:
    """Each adds to what is known of its client, in whichever order they come."""
    three = (
        CONNECTION,
        CONNECTION._replace(id=2, opened=1_600_000_000.0, kip_1242=True),
        CONNECTION._replace(id=3, metadata_version=13, kip_1242=False),
    )
    for order in permutations(three):
        grouped = GroupedClients()
        for each in order:
            grouped.add(each)
        (client,) = grouped.views()
        assert (client.connections, client.metadata_version, client.kip_1242) == (3, 13, True)
        assert client.since == "2020-09-13T12:26:40.000+00:00"


@pytest.mark.parametrize(
    "other",
    [
        CONNECTION._replace(principal=None),
        CONNECTION._replace(client_id="b"),
        CONNECTION._replace(host="192.0.2.2"),
        CONNECTION._replace(cluster="c"),
    ],
)
def test_others(other: ConnectionInfo) -> None:
    """A connection that differs in who it is belongs to another client."""
    grouped = GroupedClients()
    grouped.add(CONNECTION)
    grouped.add(other)
    assert len(list(grouped.views())) == 2
