"""The queue of log lines, and the thread that writes them: a stderr that nobody reads stops nothing else.

`kproxy.observe.logs` makes one when logging is configured, and closes it when kproxy ends. Every thread may put lines.
"""

from __future__ import annotations

import os
import select
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from queue import Empty, SimpleQueue
from typing import Any, Final, TextIO

from kproxy.observe.counters import LogCounters

MAX_LINES: Final = 10_000
MAX_BYTES: Final = 8 * 2**20
_BATCH_BYTES: Final = 64 * 2**10
_ORDINARY: Final = 0.9
"""The part of the room for ordinary lines; the rest is for errors and tracebacks."""
_FLOWING: Final = 0.5
"""Once lines are dropped, the queue must be this empty before it takes ordinary lines again. Otherwise every second
line would say that one was dropped."""


class LogQueue:
    """Lines on their way to a stream, in order; `put` never waits. The lines that find no room are counted.

    The lock is reentrant, because the garbage collector may run inside `put`, and a finalizer may warn on stderr. For
    the same reason a caller that needs a lock shares it: two could be taken in either order.
    """

    def __init__(
        self,
        stream: TextIO | None,
        counters: LogCounters,
        *,
        notice: Callable[[int], str],
        tick: Callable[[], float | None] = lambda: None,
        max_lines: int = MAX_LINES,
        max_bytes: int = MAX_BYTES,
        lock: AbstractContextManager[Any] | None = None,
    ) -> None:
        """`stream` None takes nothing, as for a process without stderr.

        `notice` makes the line that says how many were dropped. The thread calls `tick` whenever it has nothing to
        write; it returns the time (time.monotonic) of the next call, or None. `lock` is a reentrant lock.
        """
        self.counters = counters
        self._sink = _Sink(stream)
        self._notice, self._tick = notice, tick
        self._max_lines, self._max_bytes = max_lines, max_bytes
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._lock = threading.RLock() if lock is None else lock
        self._lines = self._bytes = self._lost = 0
        self._dropping = self._closed = False
        # A daemon thread: kproxy ends although the thread waits for a reader.
        self._thread = threading.Thread(target=self._run, name="log writer", daemon=True)
        self._thread.start()

    def put(self, text: str, *, urgent: bool = False) -> None:
        """Queue text that ends with a newline, or count it as dropped. `urgent` text may use the last of the room."""
        line = text.encode("utf-8", "backslashreplace")
        with self._lock:
            if self._closed or not self._has_room(len(line), urgent):
                self._lost += 1
                self.counters.dropped += 1
                return
            self._say_what_was_lost()
            self._add(line)

    def full(self) -> bool:
        """Return True when ordinary lines are dropped: then they need not be made."""
        return self._dropping and not self._fits(0, _FLOWING)

    def drop(self) -> None:
        """Count a line that was not made, because the queue is full."""
        with self._lock:
            self._lost += 1
            self.counters.dropped += 1

    def wake(self) -> None:
        """Have the thread call `tick`."""
        self._queue.put(b"")

    def close(self, seconds: float) -> None:
        """Take no more lines, and wait at most this long until those that are queued are written."""
        with self._lock:
            if self._closed:
                return
            self._say_what_was_lost()
            self._closed = True
        self._queue.put(None)
        self._thread.join(seconds)

    def _has_room(self, size: int, urgent: bool) -> bool:
        if urgent:
            return self._fits(size, 1.0)
        self._dropping = not self._fits(size, _FLOWING if self._dropping else _ORDINARY)
        return not self._dropping

    def _fits(self, size: int, part: float) -> bool:
        lines = 2 if self._lost else 1  # the notice of what was lost comes before the line
        return self._lines + lines <= self._max_lines * part and self._bytes + size <= self._max_bytes * part

    def _add(self, line: bytes) -> None:
        self._lines += 1
        self._bytes += len(line)
        self._queue.put(line)

    def _say_what_was_lost(self) -> None:
        lost, self._lost = self._lost, 0
        if lost:
            self._add(self._notice(lost).encode("utf-8", "backslashreplace"))

    def _run(self) -> None:
        while (line := self._next()) is not None:
            batch = [line, *self._more(len(line))]
            written = self._sink.write(b"".join(batch))
            lines = sum(map(bool, batch))  # an empty one only woke the thread
            with self._lock:
                self._lines -= lines
                self._bytes -= sum(map(len, batch))
                self.counters.dropped += 0 if written else lines
        self._sink.close()

    def _next(self) -> bytes | None:
        """Wait for a line and return it, an empty one when `tick` is due; return None at the end."""
        try:
            return self._queue.get(block=False)
        except Empty:
            pass
        try:
            return self._queue.get(timeout=self._idle())
        except Empty:
            return b""

    def _more(self, size: int) -> Iterator[bytes]:
        """Yield the lines that are queued already, up to a batch: then one write is enough for all."""
        while size < _BATCH_BYTES and not self._queue.empty():
            line = self._queue.get()  # at once: no other thread takes any
            if line is None:
                self._queue.put(None)  # the end, for `_next`; nothing is put behind it
                return
            size += len(line)
            yield line

    def _idle(self) -> float | None:
        """Say what was lost, if nothing has been put since; return the seconds until `tick` is to be called again."""
        with self._lock:
            if not self._closed and self._queue.empty():
                self._say_what_was_lost()
        try:
            due = self._tick()
        except Exception:  # a fault must not end the only thread that writes
            self._sink.write(traceback.format_exc().encode("utf-8", "backslashreplace"))
            return None
        return None if due is None else max(due - time.monotonic(), 0.0)


class _Sink:
    """Writes bytes to a stream's descriptor, past the stream's buffer.

    The stream's buffer has a lock. A thread that waits for a reader would hold it, and the interpreter could not end.
    The descriptor is a copy: the stream's own number may be closed, and then be a client's socket.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._descriptor: int | None = None
        with suppress(OSError, ValueError):  # a stream in memory, or a closed one
            if stream is not None:
                self._descriptor = os.dup(stream.fileno())

    def write(self, data: bytes) -> bool:
        """Write all of it, however long that takes; return False when it cannot be written."""
        if not data:
            return True
        if self._stream is None or self._stream.closed:
            return False
        try:
            if self._descriptor is None:
                self._stream.write(data.decode("utf-8"))
                self._stream.flush()
            else:
                _write_all(self._descriptor, data)
        except (OSError, ValueError):  # the disk is full, the pipe is closed: no reason to end anything
            return False
        return True

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # whoever gave us stderr made it non-blocking
            ready = select.poll()
            ready.register(descriptor, select.POLLOUT)
            ready.poll()
