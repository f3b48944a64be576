"""kproxy.state.sqlite: what is kept through ends of every kind, and files that cannot be used."""

from __future__ import annotations

import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
import trio.testing

from kproxy.errors import ErrorClass
from kproxy.state.database import VERSION, Database
from kproxy.state.sqlite import SqliteStore
from kproxy.state.store import StateError

WRITER = """
import sys
from pathlib import Path
import trio
from kproxy.state.sqlite import SqliteStore

async def write(store, start):
    for number in range(start, 10**9, 4):
        await store.put("t", f"{number:012}", b"x" * 1000)
        print(number, flush=True)

async def main():
    store = SqliteStore(Path(sys.argv[1]))
    async with trio.open_nursery() as nursery:
        await nursery.start(store.run)
        for start in range(4):
            nursery.start_soon(write, store, start)

trio.run(main)
"""


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[SqliteStore]:
    """A store on the file, while the block lasts."""
    store = SqliteStore(path)
    async with trio.open_nursery() as nursery:
        await nursery.start(store.run)
        yield store
        nursery.cancel_scope.cancel()


async def test_kept_over_a_restart(tmp_path: Path) -> None:
    """In a directory that is made for it."""
    path = tmp_path / "made" / "state.db"
    async with opened(path) as store:
        await store.put("t", "k", b"v")
    async with opened(path) as store:
        assert await store.get("t", "k") == b"v"


async def test_killed_in_the_middle_of_writing(tmp_path: Path) -> None:
    """Every write that had returned is there, whole, and the file is well."""
    path = tmp_path / "state.db"

    def kill_a_writer() -> set[str]:
        with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            confirmed = [writer.stdout.readline() for _ in range(300)]
            writer.send_signal(signal.SIGKILL)
            confirmed += writer.stdout.readlines()
        return {f"{int(line):012}" for line in confirmed if line.endswith("\n")}

    confirmed = await trio.to_thread.run_sync(kill_a_writer)
    async with opened(path) as store:
        found = dict(await store.items("t"))
    assert confirmed <= set(found)
    assert set(found.values()) == {b"x" * 1000}


async def test_an_end_finishes_what_was_asked(tmp_path: Path) -> None:
    """Writes that wait while the store is cancelled are kept; later ones are refused."""
    path = tmp_path / "state.db"
    store = SqliteStore(path)
    async with trio.open_nursery() as writers, trio.open_nursery() as nursery:
        await nursery.start(store.run)
        for number in range(100):
            writers.start_soon(store.put, "t", str(number), b"v")
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    with pytest.raises(StateError, match="is not open"):
        await store.get("t", "0")
    async with opened(path) as store:
        assert len(await store.items("t")) == 100


async def test_writes_share_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand at the same time take a few transactions, not a thousand syncs."""
    commits = 0

    class Counted(Database):
        def transact(self, works):  # type: ignore[no-untyped-def]
            nonlocal commits
            commits += 1
            return super().transact(works)

    monkeypatch.setattr("kproxy.state.sqlite.Database", Counted)
    async with opened(tmp_path / "state.db") as store, trio.open_nursery() as nursery:
        for number in range(1000):
            nursery.start_soon(store.put, "t", str(number), b"v")
    assert commits <= 5


@pytest.mark.parametrize("content", [b"this is no database" * 1000, b"SQLite format 3\x00" + bytes(5000)])
async def test_a_file_that_is_no_database(tmp_path: Path, content: bytes) -> None:
    """The error says where, what, and what to do; the file is left as it is."""
    path = tmp_path / "state.db"
    path.write_bytes(content)
    with pytest.raises(StateError, match=r"state file .*state\.db: is damaged.*move it away") as caught:
        await SqliteStore(path).run()
    assert caught.value.error_class is ErrorClass.INVALID_CONFIGURATION
    assert path.read_bytes() == content


async def test_a_damaged_page(tmp_path: Path) -> None:
    """It is found at the start, not when it is needed."""
    path = tmp_path / "state.db"
    async with opened(path) as store, trio.open_nursery() as nursery:
        for number in range(500):
            nursery.start_soon(store.put, "t", f"{number:03}", b"x" * 100)
    data = bytearray(path.read_bytes())
    data[3 * 4096 : 4 * 4096] = b"\xff" * 4096
    path.write_bytes(data)
    with pytest.raises(StateError, match="is damaged"):
        await SqliteStore(path).run()


async def test_a_newer_file(tmp_path: Path) -> None:
    """An older kproxy does not touch what it does not know."""
    path = tmp_path / "state.db"
    async with opened(path) as store:
        await store.put("t", "k", b"v")
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    with pytest.raises(StateError, match=f"newer kproxy \\(tables {VERSION + 1}, known are {VERSION}\\)"):
        await SqliteStore(path).run()


async def test_a_database_of_another_program(tmp_path: Path) -> None:
    """It is not written to."""
    path = tmp_path / "state.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StateError, match="another program"):
        await SqliteStore(path).run()
    assert path.read_bytes() == before


async def test_a_file_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two kproxys on one file would overwrite each other: the second one does not start."""
    monkeypatch.setattr("kproxy.state.database._LOCK_SECONDS", 0.05)
    async with opened(tmp_path / "state.db") as store:
        with pytest.raises(StateError, match="in use by another process"):
            await SqliteStore(tmp_path / "state.db").run()
        await store.put("t", "k", b"v")


async def test_a_place_where_no_file_can_be(tmp_path: Path) -> None:
    """A directory in its place, and a file in the place of its directory."""
    (tmp_path / "file").write_text("x")
    for path in (tmp_path, tmp_path / "file" / "state.db"):
        with pytest.raises(StateError, match="cannot be opened"):
            await SqliteStore(path).run()


async def test_a_key_that_is_no_text(tmp_path: Path) -> None:
    """It is its caller's fault, and nobody else's."""
    async with opened(tmp_path / "state.db") as store:
        with pytest.raises(StateError, match="no Unicode text"):
            await store.put("t", "\ud800", b"v")
        await store.put("t", "k", b"v")


async def test_a_full_disk(tmp_path: Path) -> None:
    """A write that finds no room is refused and has not happened; the store goes on when there is room."""
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        async with opened(tmp_path / "state.db") as store:
            await store.put("t", "small", b"v")
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
            with pytest.raises(StateError, match=r"not kept: .*; check the free space"):
                await store.put("t", "large", bytes(1_000_000))
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            await store.put("t", "large", bytes(1_000_000))
            assert [key for key, _ in await store.items("t")] == ["large", "small"]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    async with opened(tmp_path / "state.db") as store:
        assert len(await store.items("t")) == 2
