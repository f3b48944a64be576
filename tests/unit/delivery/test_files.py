"""kproxy.delivery.files: the files on the disk, and when they appear."""

from __future__ import annotations

import gzip
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from kproxy.delivery.files import Files
from tests.unit.delivery.items import Number, lines

Start = Callable[..., Awaitable[Files[Number]]]


def rows(directory: Path) -> list[dict[str, Any]]:
    """Return all lines of the finished files."""
    files = sorted(path for path in directory.iterdir() if not path.name.startswith("."))
    return [json.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]


def parts(directory: Path) -> list[Path]:
    """Return the unfinished files."""
    return [path for path in directory.iterdir() if path.name.startswith(".")]


@pytest.fixture
def start(nursery: trio.Nursery, tmp_path: Path) -> Start:
    """Return a function that starts a destination which writes to the test's directory."""

    async def start(**settings: Any) -> Files[Number]:
        destination = Files("files", tmp_path / "out", "numbers", lines, **({"linger": 0.0} | settings))
        await nursery.start(destination.run)
        return destination

    return start


async def flushed(destination: Files[Number], *items: Number) -> None:
    """Offer items and wait until they are settled."""
    for each in items:
        assert destination.offer(each)
    with trio.fail_after(40):
        await destination.flush()


async def eventually(true: Callable[[], bool]) -> None:
    """Poll until it is true, with a deadline."""
    with trio.fail_after(40):
        while not true():  # noqa: ASYNC110  (a file appears without an event)
            await trio.sleep(0.01)


async def test_finished_by_age(start: Start, tmp_path: Path) -> None:
    """All lines appear together when the file is old enough."""
    destination = await start(file_age=0.3)
    await flushed(destination, *[Number(each) for each in range(10)])
    assert rows(tmp_path / "out") == []
    await eventually(lambda: len(rows(tmp_path / "out")) == 10)
    found = rows(tmp_path / "out")
    assert [row["number"] for row in found] == list(range(10))
    await flushed(destination, Number(10))
    await eventually(lambda: len(rows(tmp_path / "out")) == 11)


async def test_finished_by_size(start: Start, tmp_path: Path) -> None:
    """A file that is large enough is finished at once; old ones are deleted."""
    destination = await start(file_bytes=1, keep_bytes=200)
    for each in range(20):
        await flushed(destination, Number(each))
    await eventually(lambda: not parts(tmp_path / "out"))
    found = [row["number"] for row in rows(tmp_path / "out")]
    assert found == list(range(20))[-len(found) :]
    assert 1 <= len(found) < 10


async def test_an_end_finishes_the_file(tmp_path: Path) -> None:
    """A cancelled destination leaves a complete file; when it runs again, it makes another one."""
    destination = Files("files", tmp_path, "numbers", lines, linger=0.0)
    for each in range(2):
        async with trio.open_nursery() as nursery:
            await nursery.start(destination.run)
            await flushed(destination, Number(each))
            nursery.cancel_scope.cancel()
        assert parts(tmp_path) == []
    assert [row["number"] for row in rows(tmp_path)] == [0, 1]


async def test_what_a_killed_process_left(start: Start, tmp_path: Path) -> None:
    """The start finishes the file of a killed process."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".numbers-20260131T120000.062000Z-01234567.json.gz.part").write_bytes(
        gzip.compress(b'{"a":1}\n') + b"\x1f"
    )
    await start()
    await eventually(lambda: rows(tmp_path / "out") == [{"a": 1}])


async def test_a_disk_that_cannot_be_written(start: Start, tmp_path: Path) -> None:
    """Items wait and the reason is reported; when the disk works again, nothing is lost."""
    (tmp_path / "out").write_text("in the way")
    destination = await start(rand=lambda: 0.01, file_bytes=1)
    destination.offer(Number(1))
    await eventually(lambda: destination.counters.retries > 2)
    assert str(tmp_path / "out") in str(destination.counters.last_error)
    assert destination.counters.queued == 1
    (tmp_path / "out").unlink()
    await eventually(lambda: destination.counters.delivered == 1)
    await eventually(lambda: (tmp_path / "out").is_dir() and len(rows(tmp_path / "out")) == 1)


async def test_an_end_without_a_disk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The destination ends, the file is left as it is, and a message says so."""
    destination = Files("files", tmp_path / "out", "numbers", lines, linger=0.0)
    async with trio.open_nursery() as nursery:
        await nursery.start(destination.run)
        await flushed(destination, Number(1))
        [part] = parts(tmp_path / "out")
        part.unlink()
        nursery.cancel_scope.cancel()
    assert "file left unfinished" in capsys.readouterr().out


async def test_a_file_that_somebody_deleted(start: Start, tmp_path: Path) -> None:
    """Its content is lost, the error says so, and the next file is written."""
    destination = await start(file_age=0.3, rand=lambda: 0.0)
    await flushed(destination, Number(1))
    [part] = parts(tmp_path / "out")
    part.unlink()
    await eventually(lambda: destination.counters.retries == 1)
    assert "no such file" in str(destination.counters.last_error).lower()
    await flushed(destination, Number(2))
    await eventually(lambda: [row["number"] for row in rows(tmp_path / "out")] == [2])


async def test_malformed_items_cost_themselves_only(start: Start, tmp_path: Path) -> None:
    """An item without lines is dropped, and the error says why."""
    destination = await start(linger=0.05, file_age=0.1)
    await flushed(destination, Number(-1), Number(1), Number(-2))
    assert (destination.counters.dropped, destination.counters.delivered) == ({"malformed": 2}, 1)
    assert destination.counters.last_error == "dropped: -2 is negative"
    await eventually(lambda: rows(tmp_path / "out") == [{"number": 1}])
