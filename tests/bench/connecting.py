"""Measure connections set up one after the other: from connect to the first response, alone and beside a busy one."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final

from . import small
from .frames import OneRecordProduce, api_versions, connect, receive
from .helper import Helper
from .process import Address

_BEGINNING: Final = 0.1  # seconds of requests after which a connection counts as busy


def first_responses(address: Address, connections: int) -> list[float]:
    """Return the seconds to connect, ask for ApiVersions and have the response, for one connection after the other."""
    samples = []
    for _ in range(connections):
        begun = time.perf_counter()
        with connect(address) as connection:
            connection.sendall(api_versions())
            receive(connection)
            samples.append(time.perf_counter() - begun)
    return samples


@contextmanager
def busy(address: Address, topic: str) -> Iterator[None]:
    """Keep a request in flight on one connection of another process, as long as the context lasts."""
    with closing(Helper("busy connection", __name__, *map(str, address), topic)) as loop:
        loop.answer()
        yield


def _loop(host: str, port: str, topic: str) -> None:
    produce = OneRecordProduce.to(topic)
    with connect((host, int(port))) as connection:
        small.requests_during(connection, produce, _BEGINNING)
        print("{}", flush=True)
        while True:
            small.requests_during(connection, produce, 1)


if __name__ == "__main__":
    _loop(*sys.argv[1:])
