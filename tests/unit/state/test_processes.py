"""kproxy.state.sqlite in real processes: killed while they write, two with one file, disks that refuse."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from kproxy.state.database import connect
from kproxy.state.sqlite import SqliteStore
from kproxy.state.store import StateError, StateLockedError
from tests.unit.state.child import LIMIT, TABLE, value_of

CHILD = (sys.executable, "-m", "tests.unit.state.child")
NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a file that does not exist yet."""
    return tmp_path / "state.db"


@contextmanager
def child(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start a child process, and kill it at the end."""
    with subprocess.Popen((*CHILD, *arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def printed_by(*command: str) -> Any:
    """Run a process and return its output, parsed as JSON."""
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=60).stdout)


def killed_after(path: Path, prefix: str, puts: int) -> set[str]:
    """Return the keys of all puts that had returned when their process was killed in the middle of others."""
    with child("write", str(path), prefix) as process:
        assert process.stdout is not None
        confirmed = [process.stdout.readline() for _ in range(puts)]
        process.kill()
        confirmed += process.stdout.readlines()
    assert process.returncode == -9
    return {line.strip() for line in confirmed if line.endswith("\n")}


async def test_what_returned_survives_kill_9(path: Path) -> None:
    """After repeated kills in mid-write, every put that returned is there, and no value is incomplete."""
    confirmed: set[str] = set()
    for round_, puts in enumerate((1, 40, 301)):
        confirmed |= killed_after(path, str(round_), puts)
        store = await SqliteStore.open(path, lock_seconds=0)
        found = dict(await store.items(TABLE))
        await store.close()
        assert confirmed <= found.keys()
        assert all(value == value_of(key) for key, value in found.items())
    assert len(confirmed) >= 342


async def test_a_second_process_waits_for_the_first(path: Path) -> None:
    """It is refused while the first has the file; if it waits, it gets the file with all rows after the close."""
    with child("hold", str(path)) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        with pytest.raises(StateLockedError, match=r"state\.db is in use already"):
            await SqliteStore.open(path, lock_seconds=0.2)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.to_thread.run_sync, process.stdin.close)
            store = await SqliteStore.open(path, lock_seconds=20)
        assert await store.get(TABLE, "holder") == b"was here"
        await store.close()


async def test_a_killed_process_leaves_no_lock(path: Path) -> None:
    """After kill -9 of the process with the file, the next one opens it at once."""
    with child("hold", str(path)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        process.kill()
        process.wait()
        store = await SqliteStore.open(path, lock_seconds=0)
        assert await store.get(TABLE, "holder") == b"was here"
        await store.close()


def check_filled(found: dict[str, Any], reason: str) -> None:
    """Check that a put was refused with the reason, that reads went on, and that all was kept once there was space."""
    assert reason in found["refusal"]
    assert "state.db" in found["refusal"]
    assert found["kept"] >= 3
    assert found["readable"] == found["kept"]
    assert found["after"] == found["kept"] + 1


def test_a_disk_that_takes_no_more(path: Path) -> None:
    """The kernel refuses a write (a limit of the process): the error is clear, nothing is lost, and puts work later."""
    check_filled(printed_by(*CHILD, "limit", str(path)), "cannot be read or written; check the disk, its free space")
    assert path.stat().st_size < 2 * LIMIT


@pytest.mark.namespaces
def test_a_disk_that_is_full(path: Path) -> None:
    """ENOSPC of a real small disk: the error says that it is full, nothing is lost, and puts work with new space."""
    mount = f"mount -t tmpfs -o size=1m tmpfs {path.parent} && exec {' '.join(CHILD)} full {path}"
    check_filled(printed_by(*NAMESPACE, "sh", "-c", mount), "cannot grow, the disk is full; free some space")


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """Yield a directory that every user can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


def denied(path: Path) -> str:
    """Return the error about the file for a user that is not root."""
    return subprocess.run((*CHILD, "denied", str(path)), stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def test_a_directory_that_cannot_be_written(open_directory: Path) -> None:
    """No file can be created in it: the error has the file's path and mentions the directory."""
    open_directory.chmod(0o555)
    path = open_directory / "state.db"
    assert denied(path).startswith(f"{path} cannot be opened; its directory must be there and kproxy must be able to")
    open_directory.chmod(0o755)


def test_a_file_that_cannot_be_written(open_directory: Path) -> None:
    """Neither a read-only file nor a writable file in a read-only directory can be opened."""
    path = open_directory / "state.db"
    connect(str(path)).close()
    path.chmod(0o444)
    open_directory.chmod(0o777)
    assert denied(path).startswith(f"{path} cannot be locked for writing; check its permissions")
    path.chmod(0o666)
    open_directory.chmod(0o555)
    assert denied(path).startswith(f"{path} cannot be written; check its permissions and its directory's")
    open_directory.chmod(0o755)


async def test_a_place_that_not_even_root_can_write() -> None:
    """The kernel's own file system accepts no files: `open` raises StateError, too."""
    with pytest.raises(StateError, match=r"^/proc/state\.db cannot be opened"):
        await SqliteStore.open("/proc/state.db")
