"""A virtual cluster as the relay sees it: which addresses to dial, and what the watcher has to look into."""

from __future__ import annotations

from kproxy.observe.counters import BOOTSTRAP
from kproxy.observe.reasons import Reason
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


async def test_dials_are_counted_by_node() -> None:
    """A failure makes the watcher poll the backend at once."""
    async with started(first_port=0) as cluster:
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
