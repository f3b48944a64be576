"""A virtual cluster as the relay sees it: which addresses to dial, and what the watcher has to look into."""

from __future__ import annotations

from kproxy.observe.counters import BOOTSTRAP
from kproxy.observe.events import AdmissionRefused
from kproxy.observe.reasons import Reason
from kproxy.protocol.context import Context
from kproxy.topology.snapshot import Replacement
from tests.unit.app.living import HOST, brokers
from tests.unit.cluster.clusters import started
from tests.unit.relay.sockets import eventually


async def test_every_bootstrap_server_has_its_turn() -> None:
    """Each connection begins with the next server, then tries the others, then the known nodes."""
    async with started(servers="a:1,b:2,c:3", first_port=0) as cluster:
        turns = [[host for host, _ in cluster.destination.upstreams(None)] for _ in range(4)]
        assert turns == [["b", "c", "a"], ["c", "a", "b"], ["a", "b", "c"], ["b", "c", "a"]]
        cluster.destination.learn(None, [(7, "n7", 9092), (8, "a", 1)])
        assert [host for host, _ in cluster.destination.upstreams(None)] == ["c", "a", "b", "n7"]
        assert cluster.destination.upstreams(7) == [("n7", 9092)]
        assert cluster.destination.upstreams(99) == []


async def test_what_does_not_answer_comes_last() -> None:
    """Bootstrap servers and nodes, as dials have found them; kproxy's own shortage tells nothing."""
    async with started(servers="a:1,b:2,c:3", first_port=0) as cluster:
        cluster.destination.learn(None, [(7, "n7", 9092), (8, "n8", 9092)])
        cluster.destination.dialled(None, ("b", 2), Reason.CONNECT_TIMEOUT, "no answer in 1 s")
        cluster.destination.dialled(None, ("c", 3), Reason.OUT_OF_DESCRIPTORS, "too many open files")
        cluster.destination.dialled(7, ("n7", 9092), Reason.CONNECT_FAILED, "connection refused")
        assert [host for host, _ in cluster.destination.upstreams(None)] == ["c", "a", "n8", "b", "n7"]
        assert cluster.upstreams.active.servers.silent == {("b", 2): "no answer in 1 s"}
        cluster.destination.dialled(None, ("b", 2), None, "")
        assert [host for host, _ in cluster.destination.upstreams(None)] == ["c", "a", "b", "n8", "n7"]


async def test_dials_are_counted_by_node() -> None:
    """A failure makes the watcher poll the backend at once."""
    async with started(first_port=0) as cluster:
        cluster.nodes.learn([(7, "n7", 9092)])
        cluster.destination.dialled(None, ("a", 1), None, "")
        cluster.destination.dialled(7, ("n7", 9092), Reason.CONNECT_FAILED, "connection refused")
        bootstrap, node = cluster.counters.nodes[BOOTSTRAP], cluster.counters.nodes[7]
        assert (bootstrap.reachable, bootstrap.connects, bootstrap.address) == (True, 1, "a:1")
        assert (node.reachable, node.connect_failures) == (False, {Reason.CONNECT_FAILED: 1})
        assert (node.address, node.last_error) == ("n7:9092", "connection refused")
        assert cluster.upstreams.watcher._hinted.is_set()


async def test_news_in_a_passing_response_are_looked_into() -> None:
    """Nodes that the watcher does not know make it poll before the interval is over."""
    async with brokers((1,)) as (broker,), started(servers=f"{HOST}:{broker.port}", first_port=0) as cluster:
        await eventually(lambda: cluster.upstreams.watcher.snapshot is not None, "the first poll")
        polls = broker.requests(3)
        cluster.destination.learn(None, [(1, *broker.address), (2, *broker.address)])
        await eventually(lambda: broker.requests(3) > polls, "another poll")
        assert cluster.upstreams.cluster_id == "scripted"


async def test_a_cluster_in_doubt_moves_nobody() -> None:
    """A name that leads to two clusters in turn: what a client has met does not replace the nodes of the known one."""
    async with brokers((1,)) as (broker,), started(servers=f"{HOST}:{broker.port}", first_port=0) as cluster:
        await eventually(lambda: cluster.upstreams.watcher.snapshot is not None, "the first poll")
        cluster.upstreams.watcher._confirmation.accepts(Replacement.CLUSTER_CHANGED, "other")
        assert cluster.upstreams.cluster_id is None
        cluster.destination.learn("other", [(1, "other", 9092), (2, "other", 9093)])
        assert cluster.destination.upstreams(1) == [(HOST, broker.port)]
        assert cluster.destination.upstreams(2) == []
        cluster.destination.learn("scripted", [(1, HOST, broker.port), (2, "n2", 9092)])
        assert cluster.destination.upstreams(2) == [("n2", 9092)]


async def test_clients_that_are_not_let_in_are_events() -> None:
    """As destinations of events get them."""
    published: list[tuple[str, object]] = []
    async with started(first_port=0) as cluster:
        cluster.events.publish = lambda name, at, event: published.append((name, event))
        context = Context(cluster.destination, 7, "10.1.2.3:4567", HOST)
        cluster.destination.not_admitted(context, Reason.ADDRESS_RATE, "more than 50 a second")
        event = AdmissionRefused("10.1.2.3", 7, None, "address_rate", "more than 50 a second", 0)
        assert published == [(cluster.settings.name, event)]
