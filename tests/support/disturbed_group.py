"""A hosted group that a test disturbs: its members, a producer, and the disk that its state is on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from kproxy.coordinator.records import GroupRecord
from tests.support.backend import Backend
from tests.support.held_disk import HeldDisk
from tests.support.hosted_group import HostedGroup
from tests.support.libraries import CONFLUENT_KAFKA, JAVA_4_4, Role
from tests.support.long_lived import LongLived
from tests.support.proxy import KPROXY, Proxy
from tests.support.wait import until

MEMBERS: Final = 8
PARTITIONS: Final = 12
_GROUP: Final = "orders"
_NINTHS_SESSION: Final = 6


@dataclass(frozen=True)
class DisturbedGroup:
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
            CONFLUENT_KAFKA, self.topic, self.directory, [name], commits=False, session=_NINTHS_SESSION
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

    @classmethod
    @contextmanager
    def settled(cls, backend: Backend, directory: Path) -> Iterator[Self]:
        """As it is when it has settled."""
        disk = HeldDisk(directory)
        proxy = Proxy(
            directory,
            {"newest": backend.cluster.bootstrap},
            program=disk.program(KPROXY),
            each={"groups": [{"match": _GROUP, "initial_rebalance_delay": "500ms"}]},
            state={"path": str(directory / "state.db")},
        )
        topic = backend.topic(PARTITIONS)
        group = HostedGroup(proxy, "newest", _GROUP)
        (directory / "source").mkdir()
        source = Role("producer", backend.cluster.bootstrap, topic, "p")
        with proxy, ExitStack() as clients:
            members = [
                clients.enter_context(group.consumers(library, topic, directory, [f"{prefix}{n}" for n in range(4)]))
                for library, prefix in ((JAVA_4_4, "java"), (CONFLUENT_KAFKA, "rdkafka"))
            ]
            producer = clients.enter_context(LongLived(CONFLUENT_KAFKA, {"source": source}, directory / "source"))
            made = cls(group, disk, topic, members, producer)
            made.settle()
            yield made
