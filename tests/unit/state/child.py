"""Processes of their own at a state file: to be killed, to hold the lock, to meet a limit."""

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
    """What belongs to a key: some bytes to some pages."""
    digest = hashlib.sha256(key.encode()).digest()
    return digest * (1 + digest[0])


async def write(path: str, prefix: str) -> None:
    """Eight tasks put until somebody kills them; each tells its key when `put` has returned."""

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
    """Has the file until its standard input ends."""
    store = await SqliteStore.open(path)
    await store.put(TABLE, "holder", b"was here")
    os.write(1, b"open\n")
    await trio.to_thread.run_sync(sys.stdin.read)
    await store.close()


async def fill(path: str, free: Callable[[], None]) -> None:
    """Puts until the disk refuses, then with free space; tells what it was told and what is there after reopening."""
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
    """A limit of the process stands for the end of the disk; freeing is to lift it."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, hard))
    trio.run(fill, path, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard)))


def full(path: str) -> None:
    """The disk is as small as its mount; freeing is to delete a file beside."""
    ballast = Path(path).with_name("ballast")
    ballast.write_bytes(bytes(200_000))
    trio.run(fill, path, ballast.unlink)


def denied(path: str) -> None:
    """Opens as a user who is not root, for whom permissions hold; tells the error."""
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
