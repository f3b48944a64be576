"""Gzip files of JSON lines, which appear when they are complete, as Spark wants them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Final, TypeVar

import structlog
import trio

from kproxy.config.delivery import check_prefix
from kproxy.delivery.interface import T
from kproxy.delivery.queued import MAX_BYTES, MAX_ITEMS, Queued
from kproxy.delivery.segment import Segment, prune, recover
from kproxy.upstream.backoff import full_jitter

log = structlog.get_logger("kproxy.delivery")

Done = TypeVar("Done")
Lines = Callable[[T], Iterable[bytes | None]]
"""An item's lines, each with its newline; None is a step in between, at which others get their turn.

ValueError for an item that has none: it is dropped.
"""

_BATCH_ITEMS: Final = 1000
_BATCH_BYTES: Final = 2**20
_BACKOFF: Final = 0.5
_LONGEST_BACKOFF: Final = 30.0


class Files(Queued[T]):
    """Writes what waits as one gzip member, in a thread; a file is finished by its size or its age."""

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
        """`file_bytes` are compressed, `file_age` and `linger` seconds; the files' names begin with `prefix`.

        Beyond `keep_bytes` of finished files the oldest are deleted. ValueError for a prefix that no file can have.
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
        """Writes until cancelled; then the file is finished with what it has, and the rest stays queued."""
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
        """The item's lines; None when it cannot be read, and is dropped."""
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
        """What `work` brings, in a thread; tried again until the disk can do it. The queue fills meanwhile."""
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
                self._segment = None  # somebody deleted it: the error is told, and there is nothing to try again
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
