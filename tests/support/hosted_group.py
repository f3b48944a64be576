"""A consumer group that a kproxy hosts, as its admin port and its state file show it, and consumers of it."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from kproxy.coordinator.records import GroupRecord, decode
from tests.support.libraries import Library, Role
from tests.support.long_lived import LongLived
from tests.support.proxy import Proxy
from tests.support.violation import never

HEARTBEAT: Final = 1.0
"""Seconds between two heartbeats of each member."""
SESSION: Final = 20
"""Seconds; a busy machine may hold up a client's heartbeats for some."""


def grouped(
    library: Library, group: str, *, commits: bool = True, session: int = SESSION, rack: str | None = None
) -> Library:
    """Return a library whose consumers are all of one group. What one reads that never commits, others read too.

    `session` is in seconds: a member that is killed stays a member for as long. `rack`: where they say they are.
    """
    consumer = {
        "group.id": group,
        "session.timeout.ms": session * 1000,
        "heartbeat.interval.ms": int(HEARTBEAT * 1000),
        # librdkafka waits for up to 10 s before it connects again to what was killed several times within a minute.
        "reconnect.backoff.max.ms": 1000,
        "enable.auto.commit": str(commits).lower(),
        **({} if rack is None else {"client.rack": rack}),
    }
    return replace(library, settings={**library.settings, "consumer": consumer})


@dataclass(frozen=True)
class HostedGroup:
    """A group of a kproxy's virtual cluster."""

    proxy: Proxy
    cluster: str
    name: str

    def consumers(self, library: Library, topic: str, directory: Path, names: list[str], **how: Any) -> LongLived:
        """Return members of the group, in one process; files go into a directory of their own. `how`: as `grouped`."""
        own = directory / f"{library.label}-{names[0]}"
        own.mkdir()
        roles = {name: Role("consumer", self.proxy.bootstrap(), topic, name) for name in names}
        return LongLived(grouped(library, self.name, **how), roles, own)

    def shown(self) -> dict[str, Any] | None:
        """The group as the admin API shows it; None when it is not there."""
        status, body = self.proxy.get(self._path())
        found: dict[str, Any] | None = json.loads(body) if status == 200 else None
        return found

    def state(self) -> str | None:
        """Its state, as Kafka names it."""
        found = self.shown()
        return None if found is None else found["state"]

    def generation(self) -> int:
        """Its generation."""
        found = self.shown()
        assert found is not None, f"no group {self.name}"
        return int(found["generation"])

    def members(self) -> list[dict[str, Any]]:
        """The members as the admin API shows them."""
        members: list[dict[str, Any]] = self.proxy.get_json(self._path("members"))["members"]
        return members

    def stable_members(self) -> list[dict[str, Any]]:
        """The members of a stable generation; none at any other time."""
        before = self.shown()
        if before is None or before["state"] != "Stable":
            return []
        members, after = self.members(), self.shown()  # it may have changed between the answers
        unchanged = after is not None and (after["state"], after["generation"]) == ("Stable", before["generation"])
        return members if unchanged else []

    def ids(self) -> set[str]:
        """The member ids."""
        return {member["member"] for member in self.members()}

    def settled(self, count: int) -> bool:
        """Whether it is stable, and long enough for nobody of before to disturb it, with each of so many alive."""
        found = self.shown()
        if found is None or found["state"] != "Stable" or found["in_state_seconds"] < 3 * HEARTBEAT:
            return False
        members = self.members()
        heard = all(member["session_ends"] > member["session_timeout"] - 2 * HEARTBEAT for member in members)
        return heard and len(members) == len({member["client_id"] for member in members}) == count

    def check_owners(self, partitions: int) -> None:
        """No partition has two owners, and each has one."""
        owners = Counter(
            number for member in self.members() for some in member["assignment"].values() for number in some
        )
        never(max(owners.values(), default=0) > 1, f"a partition of {self.name} has two owners: {owners}")
        assert owners == Counter(range(partitions))

    def record(self, state: Path) -> GroupRecord | None:
        """What the state file, which no process has open, has of it."""
        with closing(sqlite3.connect(state)) as connection:
            query = "SELECT value FROM entries WHERE collection = ? AND key = ?"
            row = connection.execute(query, (f"groups/{self.cluster}", self.name)).fetchone()
        return None if row is None else decode(self.name, row[0])

    def _path(self, *below: str) -> str:
        return "/".join([f"/api/v1/clusters/{self.cluster}/groups", self.name, *below])
