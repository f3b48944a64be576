"""The watcher when another cluster answers: once, for good, or in turn; and when a name moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from itertools import chain, cycle, repeat
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from kproxy.errors import UpstreamError
from kproxy.topology.snapshot import Change, Node, Snapshot
from kproxy.topology.watcher import Watcher
from kproxy.upstream.client import UpstreamClient
from kproxy.upstream.dial import open_tcp
from kproxy.wire.header import RequestHeader
from tests.unit.upstream import scripted_broker as script
from tests.unit.upstream.scripted_broker import API_VERSIONS, METADATA, ScriptedBroker, eventually

Start = Callable[..., Awaitable[Watcher]]


class Site:
    """One broker that can answer as any cluster, and what a watcher of it reported."""

    def __init__(self) -> None:
        self.broker = ScriptedBroker()
        self.changes: list[Change] = []

    def answers(self, ids: Iterator[str], nodes: Callable[[str], list[int]] = lambda _: [1]) -> None:
        """Answer each Metadata as the cluster of the next id."""

        async def behaviour(broker: ScriptedBroker, stream: trio.SocketStream, header: RequestHeader) -> None:
            broker.answer.cluster_id = next(ids)
            broker.name_nodes(dict.fromkeys(nodes(broker.answer.cluster_id), broker.address))
            await broker.good(stream, header)

        self.broker.script[METADATA] = behaviour

    def on_change(self, _snapshot: Snapshot, change: Change) -> None:
        """Keep what `on_change` got."""
        self.changes.append(change)


@pytest.fixture
async def site(nursery: trio.Nursery) -> Site:
    """A broker that runs."""
    site = Site()
    await nursery.start(site.broker.run)
    return site


@pytest.fixture
def start(nursery: trio.Nursery, site: Site) -> Start:
    """Start a watcher of the site, with an hour between polls unless something causes one sooner."""

    async def start(*, run: bool = True, dial: Any = open_tcp, **settings: Any) -> Watcher:
        client = UpstreamClient([site.broker.address], rand=lambda: 0.5, dial=dial)
        await nursery.start(client.run)
        chosen = {"interval": 3600, "floor": 0.05, "poll_timeout": 3.0, "probe_timeout": 1.0}
        watcher = Watcher(client, on_change=site.on_change, on_reachability=lambda *_: None, **(chosen | settings))
        if run:
            await nursery.start(watcher.run)
        return watcher

    return start


def polls(site: Site) -> int:
    """Return how many polls came."""
    return site.broker.requests(METADATA)


def doubts(logs: list[Any]) -> list[Any]:
    """Return the log lines about clusters that are not believed yet."""
    return [entry for entry in logs if "believed when" in entry["event"]]


async def test_another_cluster_is_believed_at_the_second_poll(start: Start, site: Site) -> None:
    """It follows after the floor, though the interval is an hour; there is one change, and one log line of doubt."""
    site.answers(chain(["x"], repeat("y")))
    with capture_logs() as logs:
        watcher = await start()
        await eventually(lambda: watcher.snapshot is not None, "the first poll")
        watcher.hint()
        await eventually(lambda: watcher.unconfirmed == "y", "the doubt")
        assert watcher.snapshot is not None
        assert watcher.snapshot.cluster_id == "x"
        assert watcher.reachable
        await eventually(lambda: len(site.changes) == 2, "the change", seconds=2)
    assert site.changes[1].cluster_changed
    assert (watcher.unconfirmed, polls(site)) == (None, 3)
    (entry,) = doubts(logs)
    assert (entry["known"], entry["answered"], entry["log_level"]) == ("x", "y", "warning")


async def test_another_cluster_for_a_moment_changes_nothing(start: Start, site: Site) -> None:
    """One odd answer: the old snapshot stays, and nothing is reported."""
    site.answers(chain(["x", "y"], repeat("x")))
    watcher = await start(interval=0.05)
    await eventually(lambda: polls(site) >= 6, "polls")
    assert watcher.snapshot is not None
    assert (watcher.snapshot.cluster_id, watcher.unconfirmed, len(site.changes)) == ("x", None, 1)


@pytest.mark.parametrize("ids", ["yx", "yz", "yzx"])
async def test_flapping_keeps_the_old_cluster_and_is_logged_once(start: Start, site: Site, ids: str) -> None:
    """Each poll shows another id, the old one among them or not: no change, no end, one line in the log."""
    site.answers(chain(["x"], cycle(ids)))
    with capture_logs() as logs:
        watcher = await start(interval=0.05, floor=0.02)
        await eventually(lambda: polls(site) >= 15, "many polls")
    assert watcher.snapshot is not None
    assert (watcher.snapshot.cluster_id, len(site.changes)) == ("x", 1)
    assert len(doubts(logs)) == 1


async def test_all_nodes_replaced_is_believed_at_the_second_poll(start: Start, site: Site) -> None:
    """A broker that has just started may know only itself."""
    counted = iter([[1, 2], [7], [1, 2], [7], [7, 8], [7, 8]])
    site.answers(repeat("x"), lambda _: next(counted, [7, 8]))
    watcher = await start(interval=0.05)
    await eventually(lambda: len(site.changes) >= 2, "the change")
    change = site.changes[1]
    assert (change.all_replaced, change.cluster_changed) == (True, False)
    assert [node.id for node in change.added] == [7, 8]
    assert watcher.snapshot is not None
    assert sorted(watcher.snapshot.nodes) == [7, 8]


async def test_a_node_that_stays_needs_no_second_poll(start: Start, site: Site) -> None:
    """Added, gone or moved nodes count at once."""
    counted = iter([[1, 2], [2, 3]])
    site.answers(repeat("x"), lambda _: next(counted, [2, 3]))
    watcher = await start()
    await eventually(lambda: len(site.changes) == 1, "the first poll")
    watcher.hint()
    await eventually(lambda: len(site.changes) == 2, "the change")
    assert (polls(site), site.changes[1].all_replaced) == (2, False)


async def test_in_doubt_no_time_goes_to_the_old_nodes(start: Start, site: Site) -> None:
    """Probes of nodes that may be gone wait until it is clear which ones are."""
    site.answers(chain(["x"], repeat("y")))
    watcher = await start(probe_timeout=30)
    await eventually(lambda: len(watcher.nodes) == 1, "the first round")
    with trio.fail_after(20):
        site.broker.script[API_VERSIONS] = _hello_then_silent()
        watcher.hint()
        await eventually(lambda: len(site.changes) == 2, "the change")


def _hello_then_silent() -> script.Behaviour:
    """Answer handshakes, but not the hello of a probe on an open connection."""
    hellos: Counter[trio.SocketStream] = Counter()

    async def behaviour(broker: ScriptedBroker, stream: trio.SocketStream, header: RequestHeader) -> None:
        hellos[stream] += 1
        if hellos[stream] <= 2:  # v5, refused, and the one that the broker knows
            await broker.good(stream, header)

    return behaviour


@pytest.mark.parametrize(
    ("cluster_id", "nodes", "looks"),
    [("y", [1], True), ("x", [1], False), (None, [1], False), ("x", [1, 2], True), (None, [], True)],
)
async def test_what_passes_is_a_reason_to_look_when_it_differs(
    start: Start, site: Site, cluster_id: str | None, nodes: list[int], looks: bool
) -> None:
    """Another cluster id or other nodes cause a poll, once for each view; a missing id is no other id."""
    site.answers(repeat("x"))
    watcher = await start()
    await eventually(lambda: len(watcher.nodes) == 1, "the first round")
    for _ in range(30):
        watcher.learn(cluster_id, [(node, *site.broker.address) for node in nodes])
        await trio.sleep(0.01)
    assert polls(site) == (2 if looks else 1)


async def test_poll_once_calls_no_callback(start: Start, site: Site) -> None:
    """It looks at a cluster before the switch: no callback, no snapshot kept."""
    site.answers(repeat("z"), lambda _: [4, 5])
    watcher = await start(run=False)
    snapshot = await watcher.poll_once()
    assert (snapshot.cluster_id, sorted(snapshot.nodes)) == ("z", [4, 5])
    assert (watcher.snapshot, site.changes) == (None, [])


@pytest.mark.parametrize("bad", ["hangs", "hangs at hello", "error", "zero brokers"])
async def test_poll_once_says_why_not(start: Start, site: Site, bad: str) -> None:
    """It raises UpstreamError within the poll's timeout, and leaves no connection open."""
    if bad == "zero brokers":
        site.answers(repeat("x"), lambda _: [])
    elif bad == "error":
        site.broker.offer_metadata(0, 13)
        site.broker.answer.error_code = 129
    else:
        site.broker.script[METADATA if bad == "hangs" else API_VERSIONS] = script.silent
    watcher = await start(run=False, poll_timeout=0.6)
    with trio.fail_after(8), pytest.raises(UpstreamError):
        await watcher.poll_once()
    if bad.startswith("hangs"):
        await eventually(lambda: site.broker.open == 0, "the connection is closed")


async def test_poll_once_ends_at_its_timeout_whatever_hangs(start: Start) -> None:
    """A dial may ignore its own limit, as a resolver does: the poll's limit ends it, with a reason."""

    async def hang(_host: str, _port: int) -> trio.abc.Stream:
        await trio.sleep_forever()
        raise AssertionError

    watcher = await start(run=False, poll_timeout=0.2, dial=hang)
    with trio.fail_after(8), pytest.raises(UpstreamError, match=r"within"):
        await watcher.poll_once()


async def test_an_initial_snapshot_is_known_and_not_reported(start: Start, site: Site) -> None:
    """A watcher that continues from a `poll_once` reports only differences."""
    node = Node(1, *site.broker.address)
    site.answers(chain(["x"], repeat("x")), lambda _: [1])
    watcher = await start(initial=Snapshot.of([node], "x"))
    await eventually(lambda: len(watcher.nodes) == 1, "the first round")
    assert site.changes == []
    site.answers(repeat("x"), lambda _: [1, 2])
    watcher.hint()
    await eventually(lambda: len(site.changes) == 1, "the change")
    assert [added.id for added in site.changes[0].added] == [2]


async def test_the_nodes_of_an_initial_snapshot_are_asked_when_no_bootstrap_server_answers(
    nursery: trio.Nursery, start: Start, site: Site
) -> None:
    """They are candidates from the first poll on."""
    node = ScriptedBroker()
    await nursery.start(node.run)
    node.name_nodes({9: node.address})
    site.broker.script[API_VERSIONS] = script.closing
    watcher = await start(initial=Snapshot.of([Node(9, *node.address)], "scripted"))
    await eventually(lambda: watcher.reachable is True, "the node's answer")


async def test_a_name_that_moves_is_noticed_while_the_old_cluster_lives(
    nursery: trio.Nursery, start: Start, site: Site
) -> None:
    """The name leads to another cluster from now on; the old one still answers existing connections."""
    other = Site()
    await nursery.start(other.broker.run)
    site.answers(repeat("x"))
    other.answers(repeat("y"))
    leads_to = site.broker

    async def resolve(_host: str, _port: int) -> trio.abc.Stream:
        return await open_tcp(*leads_to.address)

    watcher = await start(interval=0.05, dial=resolve)
    await eventually(lambda: watcher.snapshot is not None, "the first poll")
    leads_to = other.broker
    await eventually(lambda: len(site.changes) == 2, "the change", seconds=3)
    assert watcher.snapshot is not None
    assert (watcher.snapshot.cluster_id, site.changes[1].cluster_changed) == ("y", True)
