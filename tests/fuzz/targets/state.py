"""What a restart finds: values of the state store, whoever wrote them, and the bytes of its file.

The oracle: a virtual cluster remembers, or leaves a value aside. For a file there is a store or a `StateError`.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Final

import trio

from kproxy.cluster.cluster import ACTIVE, Cluster
from kproxy.cluster.failover_history import STAYS
from kproxy.config import Config
from kproxy.observe.counters import Counters
from kproxy.relay.relay import Relay
from kproxy.state.database import connect
from kproxy.state.sqlite import SqliteStore
from kproxy.state.store import MemoryStore, StateError, Store
from kproxy.telemetry.subscription import Subscription
from tests.fuzz.script import Script, decode

_ACTIVE, _STAYS, _SUBSCRIPTION, _TYPED, _FILE = range(5)
"""Kinds of steps: a value of each table; a value of another type than bytes; the store's file."""
_NAME: Final = "orders"
_CONFIG: Final = {
    "clusters": [
        {
            "name": _NAME,
            "upstreams": [
                {"name": "east", "bootstrap_servers": "127.0.0.1:1"},
                {"name": "west", "bootstrap_servers": "127.0.0.1:2"},
            ],
            "listen": "127.0.0.1:0",
            "nodes": {"first_port": 0},
            "telemetry": {"subscriptions": [{"name": "all", "metrics": ["*"]}]},
        }
    ],
}
_TABLES: Final = {_ACTIVE: (ACTIVE, _NAME), _STAYS: (STAYS, _NAME), _SUBSCRIPTION: (f"telemetry/{_NAME}", "mine")}


class State:
    """The target."""

    kinds = 5
    most = 1 << 15

    def __init__(self) -> None:
        self._config = Config.model_validate(_CONFIG)
        self._directory = tempfile.TemporaryDirectory(prefix="kproxy-fuzz-", dir=_memory())
        self._file = Path(self._directory.name, "state.db")
        self._relay = Relay(self._config.limits, self._config.timeouts)
        self.seeds = self._seeds()

    def run(self, data: bytes) -> None:
        """Have a virtual cluster remember; raise for what must not be."""
        trio.run(self._run, data)

    def close(self) -> None:
        """As `Target`."""
        self._directory.cleanup()

    async def _run(self, data: bytes) -> None:
        steps = decode(data).steps
        for leftover in self._file.parent.iterdir():
            leftover.unlink()
        try:
            store: Store
            if any(step.kind % self.kinds in (_TYPED, _FILE) for step in steps):
                store = await self._in_file(data)
            else:
                store = MemoryStore()
        except StateError:
            return
        try:
            for step in steps:
                if step.kind % self.kinds in _TABLES:
                    await store.put(*_TABLES[step.kind % self.kinds], step.data)
            await self._remember(store)
        except StateError:
            pass
        finally:
            await store.close()

    async def _in_file(self, data: bytes) -> Store:
        steps = decode(data).steps
        contents = [step.data for step in steps if step.kind % self.kinds == _FILE]
        if contents:
            self._file.write_bytes(b"".join(contents))
        else:
            connect(str(self._file)).close()
            self._put_typed([step.data for step in steps if step.kind % self.kinds == _TYPED])
        return await SqliteStore.open(self._file, lock_seconds=0)

    def _put_typed(self, values: list[bytes]) -> None:
        """Write as an operator's own SQL would: SQLite keeps the type of what it is given."""
        with sqlite3.connect(self._file) as database:
            for value in values:
                table, key = _TABLES[value[0] % len(_TABLES) if value else 0]
                typed = value[1:].decode("utf-8", "replace") if len(value) % 2 else len(value)
                database.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", (table, key, typed))
        database.close()

    async def _remember(self, store: Store) -> None:
        counters = Counters(0.0)
        cluster = Cluster(self._config.clusters[0], self._config, counters.cluster(_NAME), self._relay.connections)
        cluster.siblings = {_NAME: cluster}
        try:
            async with trio.open_nursery() as nursery:
                await cluster.remember(store, nursery)
                nursery.cancel_scope.cancel()
        except ExceptionGroup as group:
            raise group.exceptions[0] from None

    def _seeds(self) -> list[bytes]:
        subscription = Subscription("mine", metrics=("org.",), match=(("client_id", "a.*"),)).configs()
        stay = {"failovers": 3, "cluster": "abc", "returned": True, "visited": ["abc", "def"], "separates": True}
        values = {
            _ACTIVE: [b"west", b"", b"gone"],
            _STAYS: [json.dumps(stay).encode(), b"{}", b"null"],
            _SUBSCRIPTION: [json.dumps(subscription).encode(), b"{}", b'{"interval.ms": "7"}'],
        }
        found = [Script.of([(kind, value)]) for kind, several in values.items() for value in several]
        connect(str(self._file)).close()
        self._put_typed([b"\0east", b"\1{}", b"\2{}"])
        file = self._file.read_bytes()
        found += [Script.of([(_TYPED, bytes([table]) + b"west")]) for table in range(3)]
        return [
            each.encode() for each in [*found, Script.of([(_FILE, file)]), Script.of([(_FILE, b"SQLite format 3\0")])]
        ]


def _memory() -> str | None:
    """Return a directory in memory, where there is one: SQLite syncs its files."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def make() -> State:
    """Return the target."""
    return State()
