"""Real clients that live on across a switch to another real Kafka cluster, without a restart.

Three switches, each made once for all tests: two to a cluster with other node ids, one to one with the same node ids.
They share the clients, because all at once leave kproxy no processor.
docs/rebootstrap.md says what is expected of each client; each client's results are written to build/failover.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from tests.conftest import NODE_IDS
from tests.support import libraries, passages
from tests.support.backend import Backend
from tests.support.libraries import EVERY_LIBRARY, NOTIFIED, Kind, Library
from tests.support.proxy import Proxy
from tests.support.switch import Crowd, Followed, Passage, Topics, fed, switch
from tests.support.violation import never

pytestmark = pytest.mark.go

TABLE = Path(__file__).parents[2] / "build" / "failover.md"
METADATA = 20
"""The Metadata requests that a client may spend in the 10 s after a switch."""

MOVES = 2
WORKERS: tuple[Kind, ...] = ("producer", "consumer")
ADMINS: tuple[Kind, ...] = ("admin", "fresh-admin")
JAVA = (libraries.JAVA_4_4, libraries.JAVA_4_3, libraries.JAVA_3_9, libraries.JAVA_3_9_DEFAULT)
OTHERS = [library for library in EVERY_LIBRARY if library not in JAVA]
NEWEST = (libraries.JAVA_4_4, libraries.LIBRDKAFKA_2_16, libraries.KAFKA_PYTHON, libraries.AIOKAFKA, libraries.FRANZ_GO)
WITH_ADMINS = (libraries.JAVA_4_4, libraries.JAVA_4_3)


def followed(crowd: Iterable[Library]) -> list[Followed]:
    """Return the clients of these libraries."""
    return [
        Followed(library, kind) for library in crowd for kind in (*WORKERS, *(ADMINS if library in WITH_ADMINS else ()))
    ]


SWITCHES = {
    "java-to-other-node-ids": followed(JAVA),
    "others-to-other-node-ids": followed(OTHERS),
    "newest-to-same-node-ids": followed(NEWEST),
}


@dataclass(frozen=True)
class Switched:
    """What was seen of a switch of `clients`: each one's passage, and each producer's lost records.

    `abilities`: what kproxy's inventory showed of each client before; `strays`: connections to the first cluster after;
    `meaning`: the virtual clusters of clients that sent the cluster and node they mean.
    """

    clients: list[Followed]
    passages: list[Passage]
    abilities: Mapping[str, set[str]]
    strays: list[dict[str, Any]]
    lost: Mapping[str, list[str]]
    leader_epochs: tuple[int, int]
    meaning: set[str]


@pytest.fixture(scope="module", params=SWITCHES)
def switched(
    request: pytest.FixtureRequest, kafka: Backend, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Switched]:
    """Yield the results of switching clients from the first cluster to the second while they work."""
    with ExitStack() as stack:
        if request.param.endswith("other-node-ids"):
            second = request.getfixturevalue("newest_kafka")
        else:
            cluster = Cluster(jars.KAFKA_4_3, NODE_IDS, settings={"min.insync.replicas": 2})
            second = Backend(stack.enter_context(cluster))
        directory = tmp_path_factory.mktemp(request.param)
        result = run(SWITCHES[request.param], {"first": kafka, "second": second}, directory)
        print(passages.write(TABLE, request.param.replace("-", " ").capitalize(), result.passages))
        yield result


def run(clients: list[Followed], backends: dict[str, Backend], directory: Path) -> Switched:
    """Make the switch. Leaders move before it, so that the first cluster's leader epochs are the higher ones."""
    first, second = backends["first"], backends["second"]
    topics = Topics.create(first, second)
    second.open_coordinator(topics.read)
    for topic in (*topics,) * MOVES:
        first.move_leaders(topic)
    upstreams = {name: backend.cluster.bootstrap for name, backend in backends.items()}
    servers = {client.cluster: upstreams for client in clients}
    with (
        fed(backends, topics.read),
        Proxy(directory, servers, topology={"retired": "serve"}) as proxy,
        Crowd(clients, directory, topics, proxy.bootstrap) as crowd,
    ):
        abilities = {one.cluster: inventory(proxy, one.cluster) for one in clients}
        found = switch(crowd, proxy, "second", second, dict.fromkeys(clients, NOTIFIED))
        return Switched(
            clients,
            found,
            abilities,
            [one for one in connections(proxy) if int(one["upstream"].rpartition(":")[2]) in first.cluster.ports],
            crowd.lost(first, second),
            (min(first.leader_epochs(topics.written).values()), max(second.leader_epochs(topics.written).values())),
            meaning(proxy),
        )


def inventory(proxy: Proxy, cluster: str) -> set[str]:
    """Return how the clients of a virtual cluster can rebootstrap, by kproxy's inventory."""
    return {one["rebootstrap"] for one in proxy.get_json(f"/api/v1/clients?cluster={cluster}")["clients"]}


def meaning(proxy: Proxy) -> set[str]:
    """Return the virtual clusters of clients that sent, in ApiVersions v5, the cluster and node they mean."""
    asked = (labels for name, labels, _ in proxy.samples() if name == "kproxy_requests_total")
    return {labels["cluster"] for labels in asked if (labels["api"], labels["version"]) == ("ApiVersions", "5")}


def connections(proxy: Proxy) -> list[dict[str, Any]]:
    """Return every client connection that has a broker."""
    page = proxy.get_json("/api/v1/connections?limit=1000")
    assert page["next"] is None
    return [one for one in page["connections"] if one["upstream"]]


def test_every_client_goes_on(switched: Switched) -> None:
    """Each client goes on within 5 s: by 129, or because retired nodes serve clients that never bootstrap again."""
    late = passages.late(switched.passages, dict.fromkeys(switched.clients, NOTIFIED))
    assert not late, f"first success at the other cluster: {late}"


def test_few_metadata_requests(switched: Switched) -> None:
    """No client sends more than 20 Metadata requests in the 10 s after the switch, except new admins, which must."""
    spent = {one.client.cluster: one.metadata for one in switched.passages if one.client.kind != "fresh-admin"}
    assert not {name: count for name, count in spent.items() if count > METADATA}
    assert any(spent.values()), "nobody asked for metadata at all: nothing was counted"


def test_nobody_is_notified_twice(switched: Switched) -> None:
    """A client gets REBOOTSTRAP_REQUIRED once in an epoch, whatever it asks on however many connections."""
    notified = {one.client.cluster: one.notified.get("129", 0) for one in switched.passages}
    assert not {name: count for name, count in notified.items() if count > 1}
    assert any(notified.values()), "nobody was told at all"


def test_no_acknowledged_record_is_lost(switched: Switched) -> None:
    """Each record that was acknowledged to a producer with acks=all is in the first cluster or in the second."""
    never(bool(switched.lost), f"records acknowledged and in no log: {switched.lost}")


def test_admins_never_hang(switched: Switched) -> None:
    """A Java admin, long-lived or new, would hang until its timeout after 129 at the bootstrap port: none does."""
    admins = [one for one in switched.passages if one.client.kind in ADMINS]
    assert len(admins) == len([client for client in switched.clients if client.kind in ADMINS])
    assert not passages.silent(admins, NOTIFIED)


def test_no_connection_is_left_behind(switched: Switched) -> None:
    """No client stays at the first cluster, not even a Java consumer at its coordinator, which 129 leaves connected."""
    assert not switched.strays


def test_clients_name_the_cluster_they_mean(switched: Switched) -> None:
    """Clients that send cluster and node in ApiVersions v5 (KIP-1242) are notified at connect time; no others are."""
    known = (libraries.JAVA_4_4, libraries.FRANZ_GO)
    assert switched.meaning == {client.cluster for client in switched.clients if client.library in known}


def test_inventory(switched: Switched) -> None:
    """kproxy knows before the switch which clients take 129, which have KIP-899 at best, and which need a restart."""
    expected = {
        libraries.JAVA_4_4: {"129"},
        libraries.JAVA_4_3: {"129"},
        libraries.LIBRDKAFKA_2_16: {"129"},
        libraries.LIBRDKAFKA_2_15: {"129"},
        libraries.LIBRDKAFKA_2_11: {"129"},
        libraries.KAFKA_PYTHON: {"129"},
        libraries.FRANZ_GO: {"129"},
        libraries.JAVA_3_9: {"kip-899"},
        libraries.JAVA_3_9_DEFAULT: {"kip-899"},
    }
    known = [client for client in switched.clients if client.library in expected and client.kind != "fresh-admin"]
    shown = {client.cluster: switched.abilities[client.cluster] for client in known}
    assert shown == {client.cluster: expected[client.library] for client in known}


def test_leader_epochs_go_back(switched: Switched) -> None:
    """The second cluster's leader epochs are lower: the switch only works because clients accept older epochs."""
    before, after = switched.leader_epochs
    assert before >= MOVES
    assert after < before
