"""The clusters that clients have been at: moves are counted, returns recognized, and both kept across a restart."""

from __future__ import annotations

import pytest

from kproxy.agreement.failover_record import FailoverRecord, by_upstream
from kproxy.cluster.failover_history import STAYS, SWITCHED, FailoverHistory
from kproxy.state.store import MemoryStore, Store
from tests.unit.state.keeping import keep

EAST, WEST = ("A", "east"), ("B", "west")


def begun(*places: tuple[str | None, str]) -> FailoverHistory:
    """Return a history in which clients were sent to these clusters, through these upstreams, one after the other."""
    stays = FailoverHistory("orders")
    for number, (cluster_id, upstream) in enumerate(places):
        stays.see(cluster_id, upstream, separates=True, moved=bool(number))
    return stays


def found(stays: FailoverHistory) -> tuple[int, str, bool]:
    return stays.record.failovers, stays.record.cluster, stays.record.returned


async def restarted(store: Store) -> FailoverHistory:
    stays = FailoverHistory("orders")
    await stays.remember(store)
    return stays


def test_moves_are_counted_and_returns_known() -> None:
    """Clusters count by their ids, whatever the upstreams are called."""
    assert found(begun(EAST)) == (0, "A", False)
    assert found(begun(EAST, WEST)) == (1, "B", False)
    assert found(begun(EAST, WEST, ("A", "renamed"))) == (2, "A", True)
    assert found(begun(EAST, WEST, EAST, ("C", "south"))) == (3, "C", False)


def test_the_same_cluster_is_no_move() -> None:
    """Through another upstream, or other bootstrap servers: its brokers know these producers, and their duplicates."""
    assert found(begun(EAST, ("A", "west"))) == found(begun(EAST, ("A", "west"), EAST)) == (0, "A", False)


def test_a_cluster_that_gives_its_id_later() -> None:
    """The upstream's name is used until then. Learning the id is no move, nor is a later answer without it."""
    stays = FailoverHistory("orders")
    assert stays.see(None, "east", separates=True)
    assert found(stays) == (0, "upstream east", False)
    assert not stays.see(None, "east", separates=True)
    assert stays.see("A", "east", separates=True)
    assert found(stays) == (0, "A", False)
    assert not stays.see("A", "east", separates=True)
    assert not stays.see(None, "east", separates=True)


def test_forced_to_a_cluster_that_does_not_answer() -> None:
    """It counts as one where clients may have been: its stay keeps its producer ids when it gives its id."""
    for cluster_id in ("A", "C"):
        stays = begun(EAST, WEST, (None, "east"))
        assert found(stays) == (2, "upstream east", True)
        assert stays.see(cluster_id, "east", separates=True)
        assert found(stays) == (2, cluster_id, True)
    stays = begun(EAST, WEST, (None, "east"))
    stays.see("A", "east", separates=True)
    assert sorted(stays.record.visited) == ["A", "B"]


def test_clusters_that_never_give_their_ids() -> None:
    """They demand SASL from kproxy: only the upstreams' names are known."""
    assert found(begun((None, "east"), (None, "west"), (None, "east"))) == (2, "upstream east", True)


def test_another_cluster_behind_the_same_name() -> None:
    """Here DNS is the failover."""
    stays = begun(EAST)
    assert stays.see("B", "east", separates=True)
    assert stays.see("A", "east", separates=True)
    assert found(stays) == (2, "A", True)


def test_once_ids_were_kept_apart() -> None:
    """Ids with a cluster in them are still in use after it is switched off."""
    stays = FailoverHistory("orders")
    stays.see("A", "east", separates=False)
    assert not stays.record.separates
    assert stays.see(None, "east", separates=True)
    assert not stays.see(None, "east", separates=False)
    assert stays.record.separates


async def test_a_restart_goes_on() -> None:
    """Each virtual cluster has its own record; being at another cluster than before is a move."""
    store, stays = MemoryStore(), begun(EAST, WEST)
    stays.switched_at = 1_790_000_000.5
    await keep(store, stays.keep)
    await keep(store, FailoverHistory("others").keep)
    again = await restarted(store)
    assert (again.record, again.switched_at) == (stays.record, stays.switched_at)
    assert not again.see("B", "west", separates=True)
    assert again.see("A", "east", separates=True)
    assert found(again) == (2, "A", True)


async def test_an_older_version_has_kept_the_active_upstream_only() -> None:
    """Clients are where they were: it is no move, so their ids stay as the brokers have issued them."""
    stays = begun((None, "east"))
    await stays.remember(MemoryStore())
    stays.see(None, "west", separates=True)
    stays.see("B", "west", separates=True)
    assert found(stays) == (0, "B", False)


async def test_what_another_version_has_kept_is_no_reason_not_to_start() -> None:
    """It begins to count anew."""
    store = MemoryStore()
    for kept in (b"?", b"[]", b'{"failovers": "many"}'):
        await store.put(STAYS, "orders", kept)
        await store.put(SWITCHED, "orders", kept)
        again = await restarted(store)
        assert (again.record, again.switched_at) == (FailoverHistory("orders").record, None)


@pytest.mark.parametrize(
    ("stay", "cluster_id", "upstream", "elsewhere"),
    [
        (FailoverRecord(), "B", "b", False),
        (FailoverRecord(0, "A"), "A", "renamed", False),
        (FailoverRecord(0, "A"), "B", "a", True),
        (FailoverRecord(0, "A"), None, "a", False),
        (FailoverRecord(0, by_upstream("a")), "A", "a", False),
        (FailoverRecord(0, by_upstream("a")), "A", "b", True),
    ],
)
def test_whether_a_stay_was_elsewhere(
    stay: FailoverRecord, cluster_id: str | None, upstream: str, elsewhere: bool
) -> None:
    """By the cluster's id; by the upstream's name where none was ever known. What is not known is no other cluster."""
    assert stay.is_elsewhere(cluster_id, upstream) is elsewhere
