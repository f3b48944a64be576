"""The alarm: it rings once for each time it is set, in an epoll that waits without a timeout."""

from __future__ import annotations

import math
import os
import re
import resource
import select
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kproxy.relay.trio_epoll import Alarm

SECONDS = 0.02


@pytest.fixture
def epoll() -> Iterator[select.epoll]:
    """An epoll in which nothing is registered."""
    with select.epoll() as made:
        yield made


@pytest.fixture
def alarm(epoll: select.epoll) -> Iterator[Alarm]:
    """An alarm, registered as the pump does it."""
    with closing(Alarm()) as made:
        epoll.register(made.fd, select.EPOLLIN | select.EPOLLET)
        yield made


def test_it_rings_once_each_time(alarm: Alarm, epoll: select.epoll) -> None:
    """Not before its time; then once, though it is not read; then again when it is set again."""
    for _ in range(3):
        began = time.monotonic()
        alarm.set(SECONDS)
        assert epoll.poll(5) == [(alarm.fd, select.EPOLLIN)]
        assert time.monotonic() - began >= SECONDS
        assert epoll.poll(2 * SECONDS) == []


def test_set_again_it_rings_later() -> None:
    """The earlier time is dropped; 60.25 s are 60 s and 250 million nanoseconds to the kernel."""
    with closing(Alarm()) as alarm:
        alarm.set(30)
        assert left(alarm) <= 30
        alarm.set(60.25)
        assert 60.25 >= left(alarm) > 60


def test_what_is_past_rings_at_once(alarm: Alarm, epoll: select.epoll) -> None:
    """A missed deadline is one; less than a nanosecond is not nothing."""
    for seconds in (0.0, -5.0, -math.inf, 1e-12):
        alarm.set(seconds)
        assert epoll.poll(5) == [(alarm.fd, select.EPOLLIN)]


def test_never(alarm: Alarm, epoll: select.epoll) -> None:
    """An infinite time drops the earlier one; a time longer than the kernel can count becomes a day."""
    alarm.set(SECONDS)
    alarm.set(math.inf)
    assert left(alarm) == 0
    assert epoll.poll(2 * SECONDS) == []
    alarm.set(1e300)
    assert 86_400 >= left(alarm) > 86_000


def left(alarm: Alarm) -> float:
    """Seconds until it rings, as the kernel reports them."""
    info = Path(f"/proc/self/fdinfo/{alarm.fd}").read_text()
    seconds, nanoseconds = re.findall(r"^it_value: \((\d+), (\d+)\)$", info, re.MULTILINE)[0]
    return int(seconds) + int(nanoseconds) / 1e9


def test_closed_it_leaves_no_descriptor() -> None:
    """A child process would inherit none either."""
    alarm = Alarm()
    assert not os.get_inheritable(alarm.fd)
    alarm.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(alarm.fd)


def test_without_descriptors_it_says_so() -> None:
    """EMFILE, as from any other call that makes a descriptor."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.dup(0)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            Alarm()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
