"""The watcher against scripted brokers: it reports each change once, and nothing ends it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio

from kproxy.errors import IdentityError
from kproxy.topology.snapshot import Change, Snapshot
from kproxy.topology.watcher import Watcher
from kproxy.upstream.client import UpstreamClient
from tests.unit.upstream import scripted_broker as script
from tests.unit.upstream.scripted_broker import API_VERSIONS, METADATA, ScriptedBroker, eventually


class Seen:
    """What the callbacks got."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.reachability: list[tuple[int, bool, str | None]] = []

    def on_change(self, snapshot: Snapshot, change: Change) -> None:
        """Keep the change."""
        assert snapshot.nodes
        self.changes.append(change)

    def on_reachability(self, node_id: int, ok: bool, error: str | None) -> None:
        """Keep the flip."""
        self.reachability.append((node_id, ok, error))


Watch = Callable[..., Awaitable[Watcher]]


@pytest.fixture
def seen() -> Seen:
    """Return what the watcher reports."""
    return Seen()


@pytest.fixture
async def brokers(nursery: trio.Nursery) -> list[ScriptedBroker]:
    """Three brokers of one cluster; each names all three and no others."""
    three = [ScriptedBroker() for _ in range(3)]
    for broker in three:
        await nursery.start(broker.run)
    for broker in three:
        broker.name_nodes({number: each.address for number, each in enumerate(three, 1)})
    return three


@pytest.fixture
def watch(nursery: trio.Nursery, brokers: list[ScriptedBroker], seen: Seen) -> Watch:
    """Start a watcher with the first two brokers as bootstrap servers; it is fast, and without randomness."""

    async def watch(**settings: Any) -> Watcher:
        client = UpstreamClient([broker.address for broker in brokers[:2]], rand=lambda: 0.5)
        await nursery.start(client.run)
        chosen: dict[str, Any] = {
            "interval": 0.05,
            "floor": 0.02,
            "poll_timeout": 3.0,
            "probe_timeout": 1.0,
            "on_change": seen.on_change,
            "on_reachability": seen.on_reachability,
        }
        watcher = Watcher(client, **(chosen | settings))
        await nursery.start(watcher.run)
        return watcher

    return watch


def polls(brokers: list[ScriptedBroker]) -> int:
    """Return how many polls came to any broker."""
    return sum(broker.requests(METADATA) for broker in brokers)


async def polled(brokers: list[ScriptedBroker], times: int) -> None:
    """Wait for this many more polls."""
    before = polls(brokers)
    await eventually(lambda: polls(brokers) >= before + times, f"{times} polls more")


async def test_the_first_poll(watch: Watch, brokers: list[ScriptedBroker], seen: Seen) -> None:
    """All nodes are added at once and found reachable; later polls with the same result report nothing."""
    watcher = await watch()
    assert (watcher.reachable, watcher.last_error, watcher.snapshot) == (None, None, None)
    await eventually(lambda: len(seen.reachability) == 3, "three nodes probed")
    await polled(brokers, 3)
    assert [[node.id for node in change.added] for change in seen.changes] == [[1, 2, 3]]
    assert sorted(seen.reachability) == [(1, True, None), (2, True, None), (3, True, None)]
    assert (watcher.reachable, watcher.last_error) == (True, None)
    assert watcher.snapshot is not None
    assert watcher.snapshot.cluster_id == "scripted"


async def test_a_change_is_reported_once(watch: Watch, brokers: list[ScriptedBroker], seen: Seen) -> None:
    """A node removed and one moved make one call; their old states are dropped; the moved one is probed anew."""
    watcher = await watch()
    await eventually(lambda: len(watcher.nodes) == 3, "three nodes probed")
    for broker in brokers:
        broker.name_nodes({1: brokers[0].address, 2: brokers[2].address})
    await eventually(lambda: len(seen.changes) == 2, "the change")
    change = seen.changes[1]
    assert [[node.id for node in nodes] for nodes in (change.added, change.removed, change.moved)] == [[], [3], [2]]
    await eventually(lambda: len(seen.reachability) == 4, "the moved node probed")
    assert seen.reachability[3] == (2, True, None)
    assert sorted(watcher.nodes) == [1, 2]
    await polled(brokers, 2)
    assert len(seen.changes) == 2


@pytest.mark.parametrize("bad", ["zero brokers", "error"])
async def test_a_bad_answer_never_replaces_a_good_snapshot(
    watch: Watch, brokers: list[ScriptedBroker], seen: Seen, bad: str
) -> None:
    """The snapshot stays, the reason is known, and the next good answer ends it."""
    watcher = await watch()
    await eventually(lambda: watcher.snapshot is not None, "the first poll")
    good = watcher.snapshot
    assert good is not None
    nodes = {node.id: node.address for node in good.nodes.values()}
    for broker in brokers:
        if bad == "error":
            broker.answer.error_code = 129  # v12 has no such field: its brokers answer like this from v13 on
            broker.offer_metadata(0, 13)
            await broker.drop()
        else:
            broker.name_nodes({})
    await eventually(lambda: watcher.reachable is False, "the bad answer")
    assert ("REBOOTSTRAP_REQUIRED" if bad == "error" else "no broker that can be dialled") in str(watcher.last_error)
    assert watcher.snapshot == good
    for broker in brokers:
        broker.answer.error_code = 0
        broker.name_nodes(nodes)
    await eventually(lambda: watcher.reachable is True, "the good answer")
    assert len(seen.changes) == 1


@pytest.mark.parametrize(
    "behaviour", [script.silent, script.closing, script.torn, script.raw(b"HTTP/1.1 400 \r\n\r\n")]
)
async def test_no_poll_ends_the_watcher(
    watch: Watch, brokers: list[ScriptedBroker], seen: Seen, behaviour: script.Behaviour
) -> None:
    """All brokers hang, close or answer nonsense: unreachable, with a reason and a time; then they recover."""
    watcher = await watch(poll_timeout=0.3, probe_timeout=0.2)
    await eventually(lambda: watcher.reachable is True, "the first poll")
    good, before = watcher.upstream, trio.current_time()
    for broker in brokers:
        broker.script[METADATA] = behaviour
    await eventually(lambda: watcher.reachable is False, "unreachable")
    assert watcher.upstream is not None
    assert good is not None
    assert watcher.last_error
    assert good.since < before <= watcher.upstream.since <= trio.current_time()
    for broker in brokers:
        broker.script.clear()
    await eventually(lambda: watcher.reachable is True, "reachable again")
    assert len(seen.changes) == 1


async def test_one_node_that_hangs(watch: Watch, brokers: list[ScriptedBroker], seen: Seen) -> None:
    """A node that accepts and never answers is unreachable; the others and the cluster are not. Then it recovers."""
    brokers[2].script[API_VERSIONS] = script.silent
    watcher = await watch(probe_timeout=2.0)
    await eventually(lambda: len(seen.reachability) == 3, "three nodes probed")
    reported = {node_id: (ok, error) for node_id, ok, error in seen.reachability}
    assert (reported[1], reported[2]) == ((True, None), (True, None))
    assert reported[3][0] is False
    assert f"127.0.0.1:{brokers[2].port}" in str(reported[3][1])
    assert watcher.reachable is True
    brokers[2].script.clear()
    await eventually(lambda: seen.reachability[3:] == [(3, True, None)], "the node recovers")


async def test_a_bootstrap_server_that_hangs(watch: Watch, brokers: list[ScriptedBroker]) -> None:
    """The other one answers within the same poll."""
    brokers[0].script[METADATA] = script.silent
    watcher = await watch(poll_timeout=3.0)
    await eventually(lambda: watcher.reachable is not None, "the first poll")
    assert watcher.reachable is True


async def test_callbacks_that_raise(watch: Watch, brokers: list[ScriptedBroker], seen: Seen) -> None:
    """Faulty callbacks end neither the watcher nor each other."""
    calls = []

    def faulty(*what: object) -> None:
        calls.append(what)
        raise RuntimeError("a fault of the listener")

    watcher = await watch(on_change=faulty, on_reachability=faulty)
    await eventually(lambda: len(calls) == 4, "one change, three nodes")
    await polled(brokers, 2)
    assert watcher.reachable is True


async def test_a_hint_brings_the_next_poll(watch: Watch, brokers: list[ScriptedBroker]) -> None:
    """The interval is an hour, and yet the poll comes at once."""
    watcher = await watch(interval=3600)
    await eventually(lambda: len(watcher.nodes) == 3, "the first round")
    watcher.hint()
    await eventually(lambda: polls(brokers) == 2, "the poll that was hinted at", seconds=2)


async def test_hints_do_not_get_below_the_floor(watch: Watch, brokers: list[ScriptedBroker]) -> None:
    """However often hints come, polls are at least the floor apart."""
    watcher = await watch(interval=3600, floor=0.2)
    begun = trio.current_time()
    while trio.current_time() < begun + 1.0:
        watcher.hint()
        await trio.sleep(0.001)
    assert 2 <= polls(brokers) <= 6


async def test_hints_do_not_hurry_a_refused_login(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients whose dials fail bring no refusal more: somewhere, refusals lock a user out."""
    tried = 0

    async def refused(self: Watcher) -> None:
        nonlocal tried
        tried += 1
        raise IdentityError("refused")

    monkeypatch.setattr(Watcher, "_poll", refused)
    watcher = await watch(floor=0.02, interval=60.0)
    for _ in range(40):
        watcher.hint()
        await trio.sleep(0.02)
    assert tried <= 8  # at 0, 0.02, 0.06, 0.14, ... s; with hints at each floor


async def test_news_in_passing_bring_the_next_poll(watch: Watch, brokers: list[ScriptedBroker], seen: Seen) -> None:
    """An unknown node is found before the interval ends, but only the poll adds it."""
    watcher = await watch(interval=3600)
    await eventually(lambda: len(watcher.nodes) == 3, "the first round")
    nodes = {number: broker.address for number, broker in enumerate(brokers, 1)} | {9: brokers[0].address}
    for broker in brokers:
        broker.name_nodes(nodes)
    watcher.learn("scripted", [(number, *address) for number, address in nodes.items()])
    assert len(seen.changes) == 1
    await eventually(lambda: len(seen.changes) == 2, "the change", seconds=2)
    assert [node.id for node in seen.changes[1].added] == [9]


async def test_news_in_passing_that_were_none(watch: Watch, brokers: list[ScriptedBroker], seen: Seen) -> None:
    """The poll that follows is reported without a change, once: who has believed the news must take them back."""
    watcher = await watch(interval=3600)
    await eventually(lambda: len(watcher.nodes) == 3, "the first round")
    watcher.learn("scripted", [(1, "old", 9092)])
    await eventually(lambda: len(seen.changes) == 2, "the report", seconds=2)
    assert not seen.changes[1]
    watcher.hint()
    await eventually(lambda: polls(brokers) == 3, "another poll", seconds=3)
    await trio.sleep(0.05)
    assert len(seen.changes) == 2


async def test_one_odd_view_brings_one_poll(watch: Watch, brokers: list[ScriptedBroker]) -> None:
    """A known view causes no poll; a broker that lags behind and repeats the same view causes one."""
    watcher = await watch(interval=3600)
    await eventually(lambda: len(watcher.nodes) == 3, "the first round")
    known = [(number, *broker.address) for number, broker in enumerate(brokers, 1)]
    for _ in range(20):
        watcher.learn("scripted", known)
        await trio.sleep(0.005)
    assert polls(brokers) == 1
    for _ in range(40):
        watcher.learn(None, known[:2])
        await trio.sleep(0.005)
    assert polls(brokers) == 2
