"""Child processes that use a state file: they are killed, hold the lock, or reach a limit."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path

import trio

from kproxy.state.database import connect
from kproxy.state.sqlite import SqliteStore
from kproxy.state.store import StateError

TABLE = "table"
LIMIT = 2**20


def value_of(key: str) -> bytes:
    """Return the value of a key: from some bytes to some pages."""
    digest = hashlib.sha256(key.encode()).digest()
    return digest * (1 + digest[0])


async def write(path: str, prefix: str) -> None:
    """Put in eight tasks until the process is killed; print each key when its `put` has returned."""

    async def task(number: int) -> None:
        for n in range(10**9):
            key = f"{prefix}-{number}-{n}"
            await store.put(TABLE, key, value_of(key))
            os.write(1, f"{key}\n".encode())

    store = await SqliteStore.open(path)
    async with trio.open_nursery() as nursery:
        for number in range(8):
            nursery.start_soon(task, number)


async def hold(path: str) -> None:
    """Hold the file open until standard input ends."""
    store = await SqliteStore.open(path)
    await store.put(TABLE, "holder", b"was here")
    os.write(1, b"open\n")
    await trio.to_thread.run_sync(sys.stdin.read)
    await store.close()


async def fill(path: str, free: Callable[[], None]) -> None:
    """Put until the disk refuses, then with free space; print the error and the content after reopening."""
    store = await SqliteStore.open(path)
    kept, refusal = 0, ""
    while not refusal:
        try:
            await store.put(TABLE, f"{kept:06}", bytes(50_000))
            kept += 1
        except StateError as error:
            refusal = str(error)
    readable = len(await store.items(TABLE))
    free()
    await store.put(TABLE, "after", b"again")
    await store.close()
    store = await SqliteStore.open(path)
    print(json.dumps({"refusal": refusal, "kept": kept, "readable": readable, "after": len(await store.items(TABLE))}))
    await store.close()


def limit(path: str) -> None:
    """Fill a disk that is simulated by a limit of the process; to free space is to lift the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, hard))
    trio.run(fill, path, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard)))


def full(path: str) -> None:
    """Fill a small mounted disk; to free space is to delete another file on it."""
    ballast = Path(path).with_name("ballast")
    ballast.write_bytes(bytes(200_000))
    trio.run(fill, path, ballast.unlink)


def denied(path: str) -> None:
    """Open as a user that is not root, so that permissions apply; print the error."""
    if os.geteuid() == 0:
        os.seteuid(65534)
    try:
        connect(path)
    except StateError as error:
        print(error)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", path, prefix]:
            trio.run(write, path, prefix)
        case ["hold", path]:
            trio.run(hold, path)
        case ["limit", path]:
            limit(path)
        case ["full", path]:
            full(path)
        case ["denied", path]:
            denied(path)
        case unknown:
            sys.exit(f"unknown: {unknown}")
