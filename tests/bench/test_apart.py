"""`apart` confines each thread as it says, and only as long as the context lasts."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack

from kproxy.local_kafka import java
from kproxy.local_kafka.cluster import tools_classpath
from tests.support.proc import thread_name, threads

from .apart import apart
from .process import wait_until

_THREADS = "import threading; t = threading.Thread(target=input); t.start(); print(flush=True); t.join()"


def _two_threads() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", _THREADS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _allowed(pid: int) -> set[frozenset[int]]:
    return {frozenset(os.sched_getaffinity(thread)) for thread in threads(pid)}


def _classes(pid: int) -> set[int]:
    return {os.sched_getscheduler(thread) for thread in threads(pid)}


def test_apart_and_free_again() -> None:
    """Relay and spare get the first processor, the others and this process the rest; afterwards all get all."""
    processors = frozenset(os.sched_getaffinity(0))
    with ExitStack() as stack:
        relay, spare, other = children = [stack.enter_context(_two_threads()) for _ in range(3)]
        try:
            for child in children:
                assert child.stdout is not None
                child.stdout.readline()
            with apart(relay.pid, [spare.pid]) as divided:
                assert divided is (len(processors) > 1)
                first = {min(processors)} if divided else set()
                assert _allowed(relay.pid) == _allowed(spare.pid) == {frozenset(first or processors)}
                assert _allowed(other.pid) == _allowed(os.getpid()) == {processors - first}
                assert _classes(spare.pid) == {os.SCHED_IDLE if divided else os.SCHED_OTHER}
                assert _classes(relay.pid) == _classes(other.pid) == {os.SCHED_OTHER}
            assert all(_allowed(child.pid) == {processors} for child in children)
            assert _allowed(os.getpid()) == {processors}
        finally:
            for child in children:
                child.kill()


def test_what_a_jvm_does_in_the_background() -> None:
    """A JVM's compilers and concurrent collector only get a processor that is free; threads that answer do not wait."""
    arguments = "org.apache.kafka.tools.ConsoleProducer", "--topic", "t", "--bootstrap-server", "127.0.0.1:1"
    waits = java.command(tools_classpath(), *arguments, options=("-XX:+UseG1GC",))
    with subprocess.Popen(waits, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as jvm:

        def classes() -> dict[str, int]:
            return {thread_name(thread): os.sched_getscheduler(thread) for thread in threads(jvm.pid)}

        try:
            wait_until(lambda: {"C2 CompilerThre", "G1 Conc#0", "kafka-producer-"} <= classes().keys(), "a JVM")
            with apart(os.getpid()) as divided:
                found = classes()
            idle = {name for name, scheduler in found.items() if scheduler == os.SCHED_IDLE}
            assert {"C1 CompilerThre", "C2 CompilerThre", "G1 Conc#0", "G1 Main Marker"} <= idle or not divided
            assert {"java", "GC Thread#0", "VM Thread", "kafka-producer-"} <= found.keys() - idle
        finally:
            jvm.kill()


def test_one_that_has_ended() -> None:
    """A process that has ended: nothing is confined for it, and nothing fails."""
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    with apart(gone.pid, [gone.pid]):
        pass
    assert len(_allowed(os.getpid())) == 1
