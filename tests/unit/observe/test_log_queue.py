"""kproxy.observe.log_queue: real pipes, nobody reading; what is kept, what is counted, how it ends."""

from __future__ import annotations

import io
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import pytest

from kproxy.observe.counters import LogCounters
from kproxy.observe.log_queue import MAX_BYTES, MAX_LINES, LogQueue
from tests.support.bounds import Bounds
from tests.support.wait import until

LINE = "x" * 1023 + "\n"
PIPEFUL = "x" * 65_535 + "\n"  # what a pipe holds, and a batch of its own


class Pipe:
    """A pipe whose write end is a text stream, as stderr is."""

    def __init__(self) -> None:
        self.reads, write = os.pipe()
        self.stream: TextIO = os.fdopen(write, "w")

    def read(self, size: int) -> str:
        """Return as many characters, of one byte each."""
        found = ""
        while len(found) < size:
            found += self.some()
        return found

    def some(self) -> str:
        """Return what is there, at most 64 KiB."""
        return os.read(self.reads, 1 << 16).decode()


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    pipe = Pipe()
    yield pipe
    os.close(pipe.reads)
    pipe.stream.close()


@contextmanager
def queue(stream: TextIO | None, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Iterator[LogQueue]:
    """Yield a queue whose notices are `lost N`; close it at the end, without waiting for a reader."""
    made = LogQueue(stream, LogCounters(), notice="lost {}\n".format, max_lines=max_lines, max_bytes=max_bytes)
    try:
        yield made
    finally:
        made.close(0)


def fill(pipe: Pipe, lines: LogQueue) -> None:
    """Put what the pipe holds; the next line has the thread wait for a reader."""
    lines.put(PIPEFUL)
    until(lambda: lines._lines == 0, "a full pipe")


def test_lines_come_out_in_order(pipe: Pipe) -> None:
    """Those of eight threads, each thread's in its order, all of them."""

    def put(thread: int) -> None:
        for number in range(500):
            lines.put(f"{thread} {number}\n")

    with queue(pipe.stream) as lines:
        threads = [threading.Thread(target=put, args=[number]) for number in range(8)]
        for thread in threads:
            thread.start()
        read: list[str] = []
        while len(read) < 4000:
            read += pipe.some().splitlines(keepends=True)
        for thread in threads:
            thread.join()
    for thread_number in range(8):
        own = [line for line in read if line.startswith(f"{thread_number} ")]
        assert own == [f"{thread_number} {number}\n" for number in range(500)]
    assert lines.counters.dropped == 0


def test_nobody_reads(pipe: Pipe, bounds: Bounds) -> None:
    """`put` never waits; memory is bounded by lines; what finds no room is counted, and said when it flows again."""
    with queue(pipe.stream, max_lines=1000) as lines:
        fill(pipe, lines)
        began = time.monotonic()
        for number in range(20_000):
            lines.put(f"{number:07} {'x' * 100}\n")
        bounds.below(time.monotonic() - began, 5, "seconds of 20,000 lines")
        assert lines._lines == 900
        lost = lines.counters.dropped
        assert lost == 20_000 - 900
        assert pipe.some() == PIPEFUL
        read = ""
        while "lost" not in read or not read.endswith("\n"):
            read += pipe.some()
        *found, notice = read.splitlines()
        assert notice == f"lost {lost}"
        assert [int(line[:7]) for line in found] == list(range(20_000 - lost))
        lines.put("after\n")
        assert pipe.some() == "after\n"
        assert lines.counters.dropped == lost


def test_bytes_are_bounded_too(pipe: Pipe) -> None:
    """A few large lines fill it as many small ones do."""
    with queue(pipe.stream, max_bytes=1 << 20) as lines:
        for _ in range(5000):
            lines.put(LINE)
        assert lines._bytes <= 0.9 * (1 << 20)
        assert lines.counters.dropped > 3000


def test_errors_have_room_of_their_own(pipe: Pipe) -> None:
    """An error and a traceback come out although the queue was full of other lines before."""
    with queue(pipe.stream, max_lines=1000) as lines:
        for _ in range(5000):
            lines.put(LINE)
        assert lines.full()
        dropped = lines.counters.dropped
        lines.put("an error\n", urgent=True)
        assert lines.counters.dropped == dropped
        read = ""
        while not read.endswith("an error\n"):
            read += pipe.some()
        assert read.endswith(f"lost {dropped}\nan error\n")
        until(lambda: not lines.full(), "room again")


def test_the_last_of_the_room_is_bounded(pipe: Pipe) -> None:
    """Errors without end are dropped as well."""
    with queue(pipe.stream, max_lines=100) as lines:
        for _ in range(5000):
            lines.put(LINE, urgent=True)
        assert lines._lines <= 100
        assert lines.counters.dropped > 4000


def test_the_notice_has_its_room_as_well(pipe: Pipe) -> None:
    """Where one line has room and some were lost, neither the notice nor the line goes beyond the bound."""
    with queue(pipe.stream, max_lines=4) as lines:
        fill(pipe, lines)
        for _ in range(5):
            lines.put(PIPEFUL, urgent=True)
        assert (lines._lines, lines.counters.dropped) == (4, 1)
        assert pipe.some() == PIPEFUL
        until(lambda: lines._lines == 3, "room for one")
        lines.put("no room\n", urgent=True)
        assert (lines._lines, lines.counters.dropped) == (3, 2)
        assert pipe.some() == PIPEFUL
        until(lambda: lines._lines == 2, "room for two")
        lines.put("an error\n", urgent=True)
        assert (lines._lines, lines.counters.dropped) == (4, 2)
        read = ""
        while not read.endswith("an error\n"):
            read += pipe.some()
        assert read.replace(PIPEFUL, "") == "lost 2\nan error\n"


def test_once_full_it_takes_lines_again_when_half_is_free(pipe: Pipe) -> None:
    """A slow reader does not get one notice for each line."""
    with queue(pipe.stream, max_lines=1000) as lines:
        for _ in range(5000):
            lines.put(LINE)
        read = ""
        while lines._lines > 600:
            read += pipe.some()
            for _ in range(10):
                lines.put(LINE)
        assert "lost" not in read
        lost = lines.counters.dropped
        while "lost" not in read:
            read += pipe.some()
            if lines._lines < 400:
                lines.put("again\n")
        assert read.count("lost") == 1
        assert int(read.partition("lost ")[2].split()[0]) >= lost


def test_the_end_waits_for_a_reader_but_not_for_long(pipe: Pipe, bounds: Bounds) -> None:
    """Closing has a deadline when nobody reads; what is put afterwards is counted as dropped."""
    with queue(pipe.stream) as lines:
        for _ in range(200):  # a pipe holds 64 KiB
            lines.put(LINE)
        began = time.monotonic()
        lines.close(0.3)
        took = time.monotonic() - began
        assert took > 0.25
        bounds.below(took, 5, "seconds until the end")
        dropped = lines.counters.dropped
        lines.put("too late\n")
        assert lines.counters.dropped == dropped + 1


def test_the_end_writes_what_is_queued(pipe: Pipe) -> None:
    """All lines are out when `close` returns, if somebody reads; a second `close` does nothing."""
    read: list[str] = []
    with queue(pipe.stream) as lines:
        for number in range(3000):
            lines.put(f"{number:04}{LINE}")
        reader = threading.Thread(target=lambda: read.append(pipe.read(3000 * 1028)))
        reader.start()
        lines.close(10)
        assert not lines._thread.is_alive()
        reader.join(10)
        lines.close(10)
    assert [int(line[:4]) for line in read[0].splitlines()] == list(range(3000))


def test_lines_put_from_within_put(pipe: Pipe) -> None:
    """The garbage collector may run in the middle of `put`, and a finalizer may warn: no deadlock, nothing lost."""

    def notice(lost: int) -> str:
        lines.put("from within\n")
        return f"lost {lost}\n"

    with queue(pipe.stream, max_lines=10) as lines:
        lines._notice = notice
        lines.drop()
        lines.put("outer\n")
        read = ""
        while "outer" not in read:
            read += pipe.some()
    assert read == "from within\nlost 1\nouter\n"


def test_a_pipe_that_is_closed(pipe: Pipe) -> None:
    """Lines that nobody can ever read count as dropped, and end nothing."""
    with queue(pipe.stream) as lines:
        os.dup2(os.open(os.devnull, os.O_RDONLY), pipe.reads)
        for _ in range(3):
            lines.put(LINE)
        until(lambda: lines.counters.dropped == 3, "three dropped lines")


def test_a_stderr_that_does_not_block(pipe: Pipe) -> None:
    """Whoever made it non-blocking still gets every line."""
    os.set_blocking(pipe.stream.fileno(), False)
    read: list[str] = []
    with queue(pipe.stream) as lines:
        for _ in range(500):
            lines.put(LINE)
        reader = threading.Thread(target=lambda: read.append(pipe.read(500 * 1024)))
        reader.start()
        lines.close(10)
        reader.join(10)
    assert read[0] == LINE * 500


def test_the_number_of_a_closed_stderr_may_be_a_clients_socket(pipe: Pipe) -> None:
    """A line never goes to what has the descriptor's number now."""
    with queue(pipe.stream) as lines:
        number = pipe.stream.fileno()
        other, into = os.pipe()
        pipe.stream.close()
        os.dup2(into, number)
        lines.put("for nobody\n")
        until(lambda: lines.counters.dropped == 1, "the dropped line")
        os.set_blocking(other, False)
        with pytest.raises(BlockingIOError):
            os.read(other, 1)
        for descriptor in {other, into, number}:
            os.close(descriptor)


def test_streams_in_memory_and_none_at_all() -> None:
    """A test's stream gets lines as a file does; without stderr they count as dropped."""
    stream = io.StringIO()
    with queue(stream) as lines:
        lines.put("a \ud800\n")
        until(lambda: stream.getvalue() == "a \\ud800\n", "the line")
    with queue(None) as lines:
        lines.put("a\n")
        until(lambda: lines.counters.dropped == 1, "the dropped line")


def test_a_fault_in_tick_does_not_end_the_thread(pipe: Pipe) -> None:
    """Its traceback is written, and lines after it are, too."""

    def fail() -> float | None:
        raise ZeroDivisionError

    made = LogQueue(pipe.stream, LogCounters(), notice=str, tick=fail)
    made.put("before\n")
    read = ""
    while "before\n" not in read or "ZeroDivisionError" not in read:
        read += pipe.some()
    made.put("after\n")
    while "after\n" not in read:
        read += pipe.some()
    made.close(5)
