"""Gzip files of JSON lines. A file appears under its name when it is complete, as Spark needs it.

`Fanout` runs a task for each `Files` from start to end of kproxy: it writes the events or pushes in its queue.
"""

from __future__ import annotations

import fcntl
import gzip
import os
import random
import re
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from math import inf
from pathlib import Path
from typing import BinaryIO, Final, TypeVar
from uuid import uuid4

import structlog
import trio

from kproxy.config.delivery import check_prefix
from kproxy.delivery.destinations import T
from kproxy.delivery.queued import MAX_BYTES, MAX_ITEMS, Queued
from kproxy.upstream.attempts import full_jitter

SUFFIX: Final = ".json.gz"
_STAMP: Final = r"\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{8}"
_PART: Final = ".part"
_CHUNK: Final = 64 * 1024
_GZIP: Final = 31  # zlib's window bits for a gzip member


class Segment:
    """A file, called `.NAME.part` until it is finished: Spark, like ls, skips names that begin with a dot."""

    def __init__(self, directory: Path, prefix: str, now: float) -> None:
        """Create the file, and its directory when that is missing; `now` in Unix seconds. Raises OSError."""
        directory.mkdir(parents=True, exist_ok=True)
        stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        self.path = directory / f"{prefix}-{stamp}-{uuid4().hex[:8]}{SUFFIX}"
        self.size = 0
        self._part = _part_of(self.path)
        self._file = self._part.open("xb", buffering=0)
        # While this process lives, another one's `recover` leaves the file alone.
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def append(self, lines: bytes) -> None:
        """Add a gzip member, so that the file is complete after each call. OSError leaves the file as it was."""
        member = gzip.compress(lines, 6)
        try:
            _write(self._file, member)
        except OSError:
            self._file.truncate(self.size)
            self._file.seek(self.size)
            raise
        self.size += len(member)

    def finish(self) -> None:
        """Sync the file and give it its name; remove an empty one.

        Raises OSError; it may be called again then.
        """
        if self.size:
            _show(self._file, self.path)
        else:
            self._part.unlink()
        self.close()

    def close(self) -> None:
        """Close the file without finishing it; `recover` will finish it."""
        self._file.close()


def recover(directory: Path, prefix: str) -> int:
    """Finish the files of a killed process, up to their last whole member; return how many.

    Those of another user stay as they are. Raises OSError.
    """
    shown = 0
    for part in _of(directory, prefix, ".", _PART):
        try:
            shown += _recovered(part)
        except PermissionError as error:
            log.warning("a file is left unfinished", file=str(part), reason=str(error))
    return shown


def _recovered(part: Path) -> bool:
    """Finish a file, or remove one without a whole member; return whether it was finished."""
    with part.open("r+b", buffering=0) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False  # its process is alive
        size = _whole_members(file)
        if not size:
            part.unlink()
            return False
        file.truncate(size)
        _show(file, part.with_name(part.name[1 : -len(_PART)]))
        return True


def prune(directory: Path, prefix: str, keep_bytes: int) -> int:
    """Delete the oldest finished files until the others fit into `keep_bytes`; return how many. Raises OSError."""
    files = sorted(_of(directory, prefix), reverse=True)
    kept = deleted = 0
    for file in files:
        kept += file.stat().st_size
        if kept > keep_bytes:
            file.unlink()
            deleted += 1
    return deleted


def _of(directory: Path, prefix: str, before: str = "", behind: str = "") -> list[Path]:
    """Return the files of this prefix; another one may go on where it ends, as orders-2 does behind orders."""
    name = re.compile(f"{re.escape(before + prefix)}-{_STAMP}{re.escape(SUFFIX + behind)}")
    return [path for path in directory.glob(f"{before}{prefix}-[0-9]*{SUFFIX}{behind}") if name.fullmatch(path.name)]


def _part_of(path: Path) -> Path:
    return path.with_name(f".{path.name}{_PART}")


def _write(file: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _show(file: BinaryIO, path: Path) -> None:
    os.fsync(file.fileno())
    _part_of(path).rename(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _whole_members(file: BinaryIO) -> int:
    """Return how many bytes of the file, from its start, are whole members."""
    whole = read = 0
    member = zlib.decompressobj(_GZIP)
    try:
        while data := file.read(_CHUNK):
            read += len(data)
            while data:
                member.decompress(data)
                if not member.eof:
                    break
                data = member.unused_data
                whole = read - len(data)
                member = zlib.decompressobj(_GZIP)
    except zlib.error:
        pass  # after a power failure the disk may hold anything behind the last sync
    return whole


log = structlog.get_logger("kproxy.delivery")

Done = TypeVar("Done")
Lines = Callable[[T], Iterable[bytes | None]]
"""Yields an item's lines, each with its newline; at a None in between, other tasks get their turn.

Raises ValueError for an item that cannot be written: it is dropped.
"""

_BATCH_ITEMS: Final = 1000
_BATCH_BYTES: Final = 2**20
_BACKOFF: Final = 0.5
_LONGEST_BACKOFF: Final = 30.0


class Files(Queued[T]):
    """Writes the waiting items as one gzip member, in a thread; finishes a file by its size or its age."""

    def __init__(
        self,
        name: str,
        directory: Path,
        prefix: str,
        lines: Lines[T],
        *,
        file_bytes: int = 64 * 2**20,
        file_age: float = 60.0,
        keep_bytes: int | None = None,
        linger: float = 1.0,
        max_items: int = MAX_ITEMS,
        max_bytes: int = MAX_BYTES,
        rand: Callable[[], float] = random.random,
    ) -> None:
        """`file_bytes` counts compressed bytes, `file_age` and `linger` are seconds; file names begin with `prefix`.

        The oldest finished files beyond `keep_bytes` are deleted. Raises ValueError for an unusable prefix.
        """
        check_prefix(prefix)
        super().__init__(name, max_items=max_items, max_bytes=max_bytes)
        self._directory = directory
        self._prefix = prefix
        self._lines = lines
        self._file_bytes = file_bytes
        self._file_age = file_age
        self._keep_bytes = keep_bytes
        self._linger = linger
        self._rand = rand
        self._segment: Segment | None = None
        self._due = inf

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Write until cancelled; then finish the current file and leave the rest in the queue."""
        task_status.started()
        try:
            await self._try(partial(recover, self._directory, self._prefix))
            while True:
                taken: list[T] = []
                with trio.move_on_at(self._due):
                    taken = await self.take(max_items=_BATCH_ITEMS, max_bytes=_BATCH_BYTES, linger=self._linger)
                await self._write(taken)
                if trio.current_time() >= self._due:
                    await self._try(self._finish)
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(self._finish_or_leave)
            self._due = inf
            self.give_back()

    async def _write(self, items: Sequence[T]) -> None:
        encoded = [(item, await self._encoded(item)) for item in items]
        written = [item for item, data in encoded if data is not None]
        data = b"".join([data for _, data in encoded if data is not None])
        if data:
            size = await self._try(partial(self._append, data))
            self._due = -inf if size >= self._file_bytes else min(self._due, trio.current_time() + self._file_age)
        self.delivered(*written)

    async def _encoded(self, item: T) -> bytes | None:
        """Return the item's lines; None when it cannot be written and is dropped."""
        out = []
        try:
            for line in self._lines(item):
                if line is None:
                    await trio.lowlevel.checkpoint()
                else:
                    out.append(line)
        except ValueError as error:
            self.failed(f"dropped: {error}")
            self.dropped("malformed", item)
            return None
        await trio.lowlevel.checkpoint()
        return b"".join(out)

    async def _try(self, work: Callable[[], Done]) -> Done:
        """Run `work` in a thread, again and again until the disk lets it succeed; return its result."""
        failures = 0
        while True:
            try:
                done = await trio.to_thread.run_sync(work)
            except OSError as error:
                failures += 1
                self.counters.retries += 1
                self.failed(f"{self._directory}: {error.strerror or error}; check its permissions and the free space")
                await trio.sleep(full_jitter(failures, self._rand(), base=_BACKOFF, cap=_LONGEST_BACKOFF))
            else:
                self.recovered()
                return done

    def _append(self, data: bytes) -> int:
        if self._segment is None:
            self._segment = Segment(self._directory, self._prefix, time.time())
        self._segment.append(data)
        return self._segment.size

    def _finish(self) -> None:
        if self._segment is not None:
            try:
                self._segment.finish()
            except FileNotFoundError:
                self._segment.close()
                self._segment = None  # the file was deleted: report the error; a retry could do nothing
                raise
            self._segment = None
        self._due = inf
        if self._keep_bytes is not None:
            prune(self._directory, self._prefix, self._keep_bytes)

    def _finish_or_leave(self) -> None:
        try:
            self._finish()
        except OSError as error:
            log.warning("file left unfinished; the next start shows it", to=self.name, error=str(error))
            if self._segment is not None:
                self._segment.close()
                self._segment = None
