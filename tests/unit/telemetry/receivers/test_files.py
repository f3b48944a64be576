"""kproxy.telemetry.receivers.files: pushes in files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import trio

from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.files import Files, lines_with
from kproxy.telemetry.receivers.resource import MAX_RESOURCES
from tests.unit.telemetry.receivers.pushes import client, gauge, metrics, push


def rows(directory: Path) -> list[dict[str, Any]]:
    """All lines of the only file."""
    [file] = directory.iterdir()
    return [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]


async def test_pushes_in_a_file(tmp_path: Path) -> None:
    """A line for each, with the constant columns. Malformed pushes and those of too many resources are dropped."""
    receiver = Files("files", tmp_path, "telemetry", lines_with({"cluster": "main"}), linger=0.05)
    different = [metrics(resource={"host": str(each)}).SerializeToString() for each in range(MAX_RESOURCES + 1)]
    too_many = Push(client(), 0.0, b"".join(different))
    good = [push(gauge("g", 1.0), info=client(number, client_id=str(number))) for number in range(10)]
    async with trio.open_nursery() as nursery:
        await nursery.start(receiver.run)
        for each in [Push(client(), 0.0, b"\xff"), *good, too_many]:
            assert receiver.offer(each)
        with trio.fail_after(40):
            await receiver.flush()
        nursery.cancel_scope.cancel()
    assert (receiver.counters.dropped, receiver.counters.delivered) == ({"malformed": 2}, 10)
    assert str(receiver.counters.last_error).startswith("dropped: a push of 'app': MetricsData with more than")
    found = rows(tmp_path)
    assert [row["client_id"] for row in found] == [str(each) for each in range(10)]
    assert {row["cluster"] for row in found} == {"main"}
