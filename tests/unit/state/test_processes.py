"""kproxy.state.sqlite beside real processes: killed while they write, two at one file, disks that refuse."""

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
    """A file that is not there yet."""
    return tmp_path / "state.db"


@contextmanager
def child(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process at the file, gone at the end."""
    with subprocess.Popen((*CHILD, *arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def told(*command: str) -> Any:
    """What a process printed, as JSON."""
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=60).stdout)


def killed_after(path: Path, prefix: str, puts: int) -> set[str]:
    """The keys of all puts that had returned in a process that was killed in the middle of further ones."""
    with child("write", str(path), prefix) as process:
        assert process.stdout is not None
        confirmed = [process.stdout.readline() for _ in range(puts)]
        process.kill()
        confirmed += process.stdout.readlines()
    assert process.returncode == -9
    return {line.strip() for line in confirmed if line.endswith("\n")}


async def test_what_returned_survives_kill_9(path: Path) -> None:
    """Killed in mid-write again and again: every put that returned is there, and nothing is there by half."""
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
    """Refused while the first has the file; with patience it gets it when the first lets go, and sees its rows."""
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
    """After kill -9 of the one that has the file the next opens it at once."""
    with child("hold", str(path)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        process.kill()
        process.wait()
        store = await SqliteStore.open(path, lock_seconds=0)
        assert await store.get(TABLE, "holder") == b"was here"
        await store.close()


def check_filled(found: dict[str, Any], reason: str) -> None:
    """Refused with the reason; what was kept stayed readable; with space it went on; all is there afterwards."""
    assert reason in found["refusal"]
    assert "state.db" in found["refusal"]
    assert found["kept"] >= 3
    assert found["readable"] == found["kept"]
    assert found["after"] == found["kept"] + 1


def test_a_disk_that_takes_no_more(path: Path) -> None:
    """The kernel refuses a write (a limit of the process): clear error, nothing lost, goes on when it can."""
    check_filled(told(*CHILD, "limit", str(path)), "cannot be read or written; check the disk, its free space")
    assert path.stat().st_size < 2 * LIMIT


@pytest.mark.skipif(
    subprocess.run((*NAMESPACE, "true"), check=False, capture_output=True).returncode != 0,
    reason="a small disk is mounted in a user namespace, which this machine does not allow",
)
def test_a_disk_that_is_full(path: Path) -> None:
    """ENOSPC of a real small disk: says that it is full, nothing lost, goes on when there is space again."""
    mount = f"mount -t tmpfs -o size=1m tmpfs {path.parent} && exec {' '.join(CHILD)} full {path}"
    check_filled(told(*NAMESPACE, "sh", "-c", mount), "cannot grow, the disk is full; free some space")


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that every user can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


def denied(path: Path) -> str:
    """What a user who is not root is told about the file."""
    return subprocess.run((*CHILD, "denied", str(path)), stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def test_a_directory_that_cannot_be_written(open_directory: Path) -> None:
    """No file can be made in it: the error names the file and the directory's part in it."""
    open_directory.chmod(0o555)
    path = open_directory / "state.db"
    assert denied(path).startswith(f"{path} cannot be opened; its directory must be there and kproxy must be able to")
    open_directory.chmod(0o755)


def test_a_file_that_cannot_be_written(open_directory: Path) -> None:
    """Neither a file for reading only, nor a file of one's own in a directory for reading only, is opened."""
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
    """The kernel's own file system takes no files: StateError through `open`, too."""
    with pytest.raises(StateError, match=r"^/proc/state\.db cannot be opened"):
        await SqliteStore.open("/proc/state.db")
