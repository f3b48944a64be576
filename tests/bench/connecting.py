"""Setting up connections, one after the other: from connect to the first response, alone and beside a busy one."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from typing import Final

from . import small
from .frames import OneRecordProduce, api_versions, connect, receive
from .process import Address, BenchError

_LOOK: Final = 0.1  # seconds between two looks whether it is to end


def first_responses(address: Address, connections: int) -> list[float]:
    """Seconds to connect, ask for ApiVersions and have the response, of one connection after the other."""
    samples = []
    for _ in range(connections):
        begun = time.perf_counter()
        with connect(address) as connection:
            connection.sendall(api_versions())
            receive(connection)
            samples.append(time.perf_counter() - begun)
    return samples


@contextmanager
def busy(address: Address, produce: OneRecordProduce) -> Iterator[None]:
    """One connection of another process with always one request in flight, as long as the context lasts."""
    spawned = multiprocessing.get_context("spawn")
    running, end = spawned.Event(), spawned.Event()
    loop = spawned.Process(target=_loop, args=(address, produce, running, end))
    loop.start()
    try:
        if not running.wait(30):
            raise BenchError(f"{address}: no response for 30 s")
        yield
    finally:
        end.set()
        loop.join(30)
        loop.kill()


def _loop(address: Address, produce: OneRecordProduce, running: Event, end: Event) -> None:
    with connect(address) as connection:
        while not end.is_set():
            small.requests_during(connection, produce, _LOOK)
            running.set()
