"""Replicas and places under random partitions, restarts and lost disks: at rest all agree, and no order is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from kproxy.agreement.agreed import Agreed
from kproxy.agreement.failover_record import FailoverRecord
from kproxy.agreement.order import Order

PLACES = ("east", "west", "north")
REPLICAS = 3
_GIVE, _READ, _COPY, _LINK, _RESTART, _WIPE = range(6)


@dataclass
class Replica:
    """One process: what it knows, what it follows, and what its disk has. `moves` are the orders that moved it."""

    name: str
    agreed: Agreed
    linked: set[str]
    followed: Order | None = None
    disk: Order | None = None
    moves: list[tuple[int, str]] = field(default_factory=list)

    def follow(self) -> None:
        newest = self.agreed.newest
        if newest is not None and (self.followed is None or newest.rank != self.followed.rank):
            self.moves.append(newest.rank)
            self.followed = self.disk = newest


class World:
    """The logs of all places, in which an order stays until the topic is deleted."""

    def __init__(self) -> None:
        self.logs: dict[str, list[Order]] = {place: [] for place in PLACES}
        self.acknowledged: list[Order] = []
        self.starts = 0
        self.replicas = [self.started(None) for _ in range(REPLICAS)]

    def started(self, disk: Order | None) -> Replica:
        self.starts += 1
        agreed = Agreed(disk)
        agreed.keep_in(PLACES)
        return Replica(f"r{self.starts:04}", agreed, set(PLACES), disk, disk)

    def give(self, replica: Replica, upstream: str) -> None:
        """As `Agreement.give`: it counts once it is written at its upstream's own place."""
        order = Order("c", replica.agreed.next_number(), upstream, FailoverRecord(), replica.name, "operator", 0.0)
        if upstream in replica.linked:
            self.logs[upstream].append(order)
            self.acknowledged.append(order)
            replica.agreed.take(None, order)
            replica.follow()

    def read(self, replica: Replica, place: str) -> None:
        """All of the place, from its beginning."""
        replica.agreed.begin(place)
        if place not in replica.linked:
            replica.agreed.lost(place, "cut off")
            return
        for order in self.logs[place]:
            replica.agreed.take(place, order)
        replica.agreed.read(place)
        replica.follow()

    def copy(self, replica: Replica) -> bool:
        """Write the newest order wherever it lacks; return whether there was something to write."""
        found = [place for place in replica.agreed.lacking if place in replica.linked]
        for place in found:
            assert replica.agreed.newest is not None
            self.logs[place].append(replica.agreed.newest)
            replica.agreed.take(place, replica.agreed.newest)
        return bool(found)

    def rest(self) -> None:
        """All links work again; read and copy until nothing changes."""
        for replica in self.replicas:
            replica.linked = set(PLACES)
        changed = True
        while changed:
            for replica in self.replicas:
                for place in PLACES:
                    self.read(replica, place)
            changed = max(map(self.copy, self.replicas))

    def restart(self, number: int, *, wipe: bool) -> None:
        self.replicas[number] = self.started(None if wipe else self.replicas[number].disk)


def _steps() -> st.SearchStrategy[list[tuple[int, int, str]]]:
    kinds = st.sampled_from([_GIVE, _GIVE, _READ, _READ, _COPY, _LINK, _LINK, _RESTART, _WIPE])
    return st.lists(st.tuples(kinds, st.integers(0, REPLICAS - 1), st.sampled_from(PLACES)), max_size=60)


def _run(world: World, steps: list[tuple[int, int, str]]) -> Iterator[Replica]:
    for kind, number, place in steps:
        replica = world.replicas[number]
        if kind == _GIVE:
            world.give(replica, place)
        elif kind == _READ:
            world.read(replica, place)
        elif kind == _COPY:
            world.copy(replica)
        elif kind == _LINK:
            replica.linked ^= {place}
        else:
            yield replica
            world.restart(number, wipe=kind == _WIPE)
    yield from world.replicas


@given(_steps())
def test_all_agree_at_rest(steps: list[tuple[int, int, str]]) -> None:
    """On the order of the highest rank that ever counted; no replica was moved twice for one, or back to an older."""
    world = World()
    ended = list(_run(world, steps))
    world.rest()
    for replica in (*ended, *world.replicas):
        assert replica.moves == sorted(set(replica.moves))
    found = {None if one.followed is None else one.followed.rank for one in world.replicas}
    assert len(found) == 1
    highest = max((order.rank for order in world.acknowledged), default=None)
    assert found == {highest}
    assert len({one.followed.upstream for one in world.replicas if one.followed is not None}) <= 1


@given(_steps(), st.sampled_from(PLACES))
def test_a_replica_without_a_disk(steps: list[tuple[int, int, str]], place: str) -> None:
    """One that reads the active upstream's own copy knows at least the order that made it active."""
    world = World()
    list(_run(world, steps))
    fresh = world.started(None)
    world.read(fresh, place)
    made_active = [order for order in world.acknowledged if order.upstream == place]
    if made_active:
        assert fresh.followed is not None
        assert fresh.followed.rank >= max(order.rank for order in made_active)
