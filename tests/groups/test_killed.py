"""kproxy killed while it hosts a group: the group goes on, and no record is lost or assigned to two members."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from kproxy.coordinator.records import GroupRecord
from tests.support.backend import Backend
from tests.support.held_disk import HeldDisk
from tests.support.hosted_group import SESSION, HostedGroup
from tests.support.libraries import CONFLUENT_KAFKA, JAVA_4_4, Role
from tests.support.long_lived import LongLived
from tests.support.proxy import KPROXY, Proxy
from tests.support.wait import until

KILLS: Final = int(os.environ.get("TEST_KILLS", "4"))
SEED: Final = 20
GROUP: Final = "orders"
pytestmark = pytest.mark.timeout(240 + 40 * KILLS)
MEMBERS: Final = 8
PARTITIONS: Final = 12
NINTHS_SESSION: Final = 6


@dataclass(frozen=True)
class World:
    """A hosted group of eight members of two libraries, whose state is on a disk that can be held; and a producer."""

    group: HostedGroup
    disk: HeldDisk
    topic: str
    members: Sequence[LongLived]
    producer: LongLived

    @property
    def proxy(self) -> Proxy:
        """The kproxy that hosts the group."""
        return self.group.proxy

    @property
    def directory(self) -> Path:
        """The files' directory."""
        return self.proxy.directory

    def settle(self) -> None:
        """Wait until the group is the eight, undisturbed."""
        until(lambda: self.group.settled(MEMBERS), "eight members", timeout=60, every=0.5)

    @contextmanager
    def ninth(self, name: str) -> Iterator[None]:
        """Have a ninth member, killed at the end; it never commits, so that the eight read what it has read, too."""
        with self.group.consumers(
            CONFLUENT_KAFKA, self.topic, self.directory, [name], commits=False, session=NINTHS_SESSION
        ):
            yield

    def kill(self) -> GroupRecord | None:
        """Kill kproxy; return what is kept of the group."""
        self.proxy.kill()
        self.disk.let_all_pass()
        return self.group.record(self.directory / "state.db")

    def check_records(self) -> None:
        """Every acknowledged record is read."""
        sent = {event.value for event in self.producer.events("source", "acked")}

        def missing() -> set[str]:
            events = (client.events(who, "consumed") for client in self.members for who in client.roles)
            return sent - {event.value for some in events for event in some}

        until(lambda: not missing(), "every acknowledged record is read", timeout=60, every=0.5)
        assert len(sent) > 100


@pytest.fixture
def world(newest_kafka: Backend, tmp_path: Path) -> Iterator[World]:
    """As it is when the group has settled."""
    disk = HeldDisk(tmp_path)
    proxy = Proxy(
        tmp_path,
        {"newest": newest_kafka.cluster.bootstrap},
        program=disk.program(KPROXY),
        each={"groups": [{"match": GROUP, "initial_rebalance_delay": "500ms"}]},
        state={"path": str(tmp_path / "state.db")},
    )
    topic = newest_kafka.topic(PARTITIONS)
    group = HostedGroup(proxy, "newest", GROUP)
    (tmp_path / "source").mkdir()
    source = Role("producer", newest_kafka.cluster.bootstrap, topic, "p")
    with proxy, ExitStack() as clients:
        members = [
            clients.enter_context(group.consumers(library, topic, tmp_path, [f"{prefix}{n}" for n in range(4)]))
            for library, prefix in ((JAVA_4_4, "java"), (CONFLUENT_KAFKA, "rdkafka"))
        ]
        producer = clients.enter_context(LongLived(CONFLUENT_KAFKA, {"source": source}, tmp_path / "source"))
        made = World(group, disk, topic, members, producer)
        made.settle()
        yield made


def test_killed_at_random_moments(world: World) -> None:
    """Half of the kills come while a ninth member joins or leaves."""
    rng = random.Random(SEED)
    for number in range(KILLS):
        killed(world, rng, disturbed=number % 2 == 1)
    world.check_records()


def killed(world: World, rng: random.Random, *, disturbed: bool) -> None:
    """Kill kproxy and start it again; the group must be stable soon, and as it was where its assignments were kept."""
    with ExitStack() as others:
        if disturbed:
            others.enter_context(world.ninth(f"x{rng.getrandbits(32):08x}"))
            until(lambda: world.group.state() != "Stable", "the ninth disturbs", timeout=30, every=0.01)
        end = time.monotonic() + rng.uniform(0, 1.5)
        until(lambda: time.monotonic() > end, "a random moment")
        kept = world.kill()
        begun = time.monotonic()
        world.proxy.start()
        if kept is not None and kept.assigned and not disturbed:
            check_undisturbed(world, kept)
        else:
            until(lambda: world.group.state() == "Stable", "stable again", timeout=60)
        world.group.check_owners(PARTITIONS)
        print(f"stable {time.monotonic() - begun:.1f} s after the kill, disturbed: {disturbed}, kept: {kept}"[:90])
    if disturbed:
        world.settle()


def check_undisturbed(world: World, kept: GroupRecord) -> None:
    """The group is at once as it was kept; every member is heard of before its session ends; nobody joins again."""
    group = world.group
    assert (group.state(), group.generation()) == ("Stable", kept.generation)
    assert group.ids() == {member.id for member in kept.members}

    def ends() -> dict[str, float]:
        return {member["member"]: member["session_ends"] + time.monotonic() for member in group.members()}

    restored = ends()

    def silent() -> list[str]:
        now = ends()
        return [member for member, end in restored.items() if now.get(member, end) < end + 0.05]

    until(lambda: not silent(), "every member is heard of", timeout=SESSION)
    assert group.generation() == kept.generation
    assert world.proxy.metric("kproxy_group_transitions_total") == 0


def joining(world: World, before: int) -> GroupRecord | None:
    """While some have joined, and kproxy waits for the others."""
    del before
    until(lambda: world.group.state() == "PreparingRebalance", "the ninth has joined", timeout=30, every=0.005)
    return world.kill()


def joined(world: World, before: int) -> GroupRecord | None:
    """All have joined; the generation is not kept, and nobody is answered."""
    world.disk.wait_held()
    assert (world.group.state(), world.group.generation()) == ("CompletingRebalance", before + 1)
    return world.kill()


def syncing(world: World, before: int) -> GroupRecord | None:
    """The generation is kept and the leader has assigned; the assignments are not kept, and nobody has its own."""
    world.disk.wait_held()
    assert (world.group.state(), world.group.generation()) == ("CompletingRebalance", before + 1)
    return world.kill()


def synced(world: World, before: int) -> GroupRecord | None:
    """The assignments are kept; members may have theirs, or not."""
    goal = world.disk.commits + 2

    def kept() -> bool:
        return world.disk.commits >= goal

    until(kept, "the assignments are kept", timeout=30, every=0.0005)
    return world.kill()


STEPS: Final[Sequence[tuple[Callable[[World, int], GroupRecord | None], int | None, int, bool]]] = [
    (joining, None, 0, True),
    (joined, 0, 0, True),
    (syncing, 1, 1, False),
    (synced, None, 1, True),
]
"""Each step; how many commits may pass in it; how far the kept generation is beyond the one before; is it assigned?"""


def test_killed_at_each_step(world: World) -> None:
    """Statements 1, 3 and 4 with real clients: what is kept at each step of a rebalance, and how the group goes on."""
    for number, (step, passing, beyond, assigned) in enumerate(STEPS):
        before = world.group.generation()
        if passing is not None:
            world.disk.let_pass(passing)
        with world.ninth(f"ninth{number}"):
            kept = step(world, before)
            assert kept is not None
            assert (kept.generation, kept.assigned) == (before + beyond, assigned), step.__name__
            world.proxy.start()
            until(lambda: whole(world), "stable with the ninth", timeout=60)
            world.group.check_owners(PARTITIONS)
            if step in (syncing, synced):
                # A member that had no answer to its SyncGroup joins again, under its id: so do Java and librdkafka.
                assert world.group.ids() == {member.id for member in kept.members}
        world.settle()
    world.check_records()


def whole(world: World) -> bool:
    """Whether the group is stable, and the ninth is one of it."""
    return len(world.group.stable_members()) == MEMBERS + 1
