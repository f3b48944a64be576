"""Pipes, and what happens when there are none."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys

import pytest

from kproxy.relay.splice import MAX_IDLE, MAX_PIPES, PIPE_BYTES, NoPipeError, Pipe, PipePool
from tests.unit.relay.sockets import KIB, MIB, no_descriptors, noise, open_files, pair


def test_bytes_go_through_a_pipe_as_they_are() -> None:
    """Another socket gets the bytes that one had; `level` is the number between them."""
    pipe = Pipe()
    far_source, source = pair()
    far_sink, sink = pair()
    data = noise(50 * KIB)
    far_source.send(data)
    assert pipe.fill(source.fileno(), 20 * KIB) == 20 * KIB == pipe.level
    assert pipe.drain(sink.fileno()) == 20 * KIB
    assert pipe.fill(source.fileno(), MIB) == 30 * KIB
    assert pipe.drain(sink.fileno()) == 30 * KIB
    assert pipe.level == 0
    assert far_sink.recv(MIB) == data
    for sock in (far_source, source, far_sink, sink):
        sock.close()
    pipe.close()


def test_nothing_to_take_the_end_and_a_sink_that_takes_nothing() -> None:
    """Nothing now is an error of its own, the end is 0, and a full sink takes 0."""
    pipe = Pipe()
    far_source, source = pair()
    far_sink, sink = pair(receive=4 * KIB, send=4 * KIB)
    with pytest.raises(BlockingIOError):
        pipe.fill(source.fileno(), KIB)
    far_source.setblocking(True)
    far_source.send(noise(300 * KIB))
    taken = pipe.fill(source.fileno(), MIB)
    while pipe.drain(sink.fileno()):
        pass
    assert 0 < pipe.level < taken
    far_source.close()
    while pipe.fill(source.fileno(), MIB):
        pass
    assert pipe.fill(source.fileno(), MIB) == 0
    for sock in (source, far_sink, sink):
        sock.close()
    pipe.close()


def test_a_pipe_holds_a_megabyte() -> None:
    """The kernel's default of 64 KiB would mean sixteen times the system calls."""
    pipe = Pipe()
    assert fcntl.fcntl(pipe.writer, fcntl.F_GETPIPE_SZ) == PIPE_BYTES
    assert not os.get_inheritable(pipe.reader)
    assert not os.get_inheritable(pipe.writer)
    pipe.close()


def test_empty_pipes_are_used_again() -> None:
    """A pipe that holds bytes is never reused; the number of idle ones is bounded; `close` closes all."""
    before = open_files()
    pool = PipePool()
    first = pool.take()
    pool.give_back(first)
    assert pool.take() is first
    far, near = pair()
    far.send(b"left over")
    first.fill(near.fileno(), KIB)
    pool.give_back(first)
    assert pool.take() is not first
    many = [pool.take() for _ in range(MAX_IDLE + 5)]
    for pipe in many:
        pool.give_back(pipe)
    far.close()
    near.close()
    assert open_files() == before + 2 + 2 * MAX_IDLE  # one pipe is still out
    pool.close()
    assert open_files() == before + 2


def test_no_descriptor_for_a_pipe() -> None:
    """The error has the kernel's reason; an idle pipe can still be taken."""
    pool = PipePool()
    pool.give_back(pool.take())
    with no_descriptors():
        idle = pool.take()
        with pytest.raises(NoPipeError, match="Too many open files"):
            pool.take()
    idle.close()


MANY_PIPES = """
import fcntl, os
from kproxy.relay.splice import PIPE_BYTES, Pipe
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
pipes = [Pipe() for _ in range(100)]
sizes = {fcntl.fcntl(pipe.writer, fcntl.F_GETPIPE_SZ) for pipe in pipes}
assert PIPE_BYTES in sizes and len(sizes) > 1, sizes
for pipe in pipes:
    os.write(pipe.writer, b"x")
    assert os.read(pipe.reader, 1) == b"x"
"""


def test_an_unprivileged_user_gets_smaller_pipes() -> None:
    """Beyond a user's share of pipe memory pipes stay small, and still work."""
    done = subprocess.run([sys.executable, "-c", MANY_PIPES], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr


def test_pipes_are_so_many_at_most() -> None:
    """Clients that do not read cannot use up the descriptors by their pipes; one that is given back can be taken."""
    before = open_files()
    pool = PipePool()
    pipes = [pool.take() for _ in range(MAX_PIPES)]
    with pytest.raises(NoPipeError, match="256 pipes"):
        pool.take()
    for pipe in pipes[:MAX_IDLE]:
        pool.give_back(pipe)
    pipes[-1].level = 1
    pool.give_back(pipes[-1])
    again = [pool.take() for _ in range(MAX_IDLE + 1)]
    with pytest.raises(NoPipeError):
        pool.take()
    for pipe in (*again, *pipes[MAX_IDLE:-1]):
        pool.give_back(pipe)
    pool.close()
    assert open_files() <= before
