"""A process beside an attack: a client of one request after the other, which notes what kproxy did before it answered.

That is CPU time of kproxy's main thread between a request and its response. On a machine whose processors are busy with
other things it says how long the client waited for kproxy, where a clock would say how long kproxy waited.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.raw import RawClient, request

_EVERY = 0.002
_HEARTBEAT = 12


class Witness:
    """`most` is the largest of these times in seconds, once it has ended; `requests` is how many there were."""

    def __init__(self) -> None:
        self.most = 0.0
        self.requests = 0


@contextmanager
def witness(port: int, pid: int) -> Iterator[Witness]:
    """Have a client send requests to a kproxy of this process id as long as the context lasts."""
    command, told = [sys.executable, "-m", __name__, str(port), str(pid)], Witness()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield told
        finally:
            process.stdin.close()
            said = process.stdout.read()
            process.wait(20)
    told.most, told.requests = json.loads(said)


def _cpu(pid: int) -> float:
    """Return the seconds for which the main thread of a process has had a processor."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e9


def _main(port: int, pid: int) -> None:
    most, count = 0.0, 0
    with RawClient(port, timeout=60) as client:
        client.ask(request(_HEARTBEAT, 0, 0))
        print("ready", flush=True)
        while not select.select([sys.stdin], [], [], _EVERY)[0]:
            count += 1
            before = _cpu(pid)
            client.ask(request(_HEARTBEAT, 0, count))
            most = max(most, _cpu(pid) - before)
    print(json.dumps([most, count]), flush=True)


if __name__ == "__main__":
    _main(*map(int, sys.argv[1:]))
