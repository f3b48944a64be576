"""A process beside an attack: a client of one request after the other, which notes what kproxy did before it answered.

That is CPU time of kproxy's main thread between a request and its response, as `share_of` counts it.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.raw import RawClient, request
from tests.support.share import share_of

_EVERY = 0.002
_HEARTBEAT = 12


class Witness:
    """`most` is the largest of these times in seconds, once it has ended; `requests` is how many there were."""

    def __init__(self) -> None:
        self.most = 0.0
        self.requests = 0


@contextmanager
def witness(port: int, pid: int, broker: int) -> Iterator[Witness]:
    """Have a client send requests to a kproxy of this process id, and to a broker, as long as the context lasts."""
    command, told = [sys.executable, "-m", __name__, str(port), str(pid), str(broker)], Witness()
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


def _main(port: int, pid: int, broker: int) -> None:
    most, count, clock = 0.0, 0, share_of(pid, broker)
    with RawClient(port, timeout=60) as client:
        client.ask(request(_HEARTBEAT, 0, 0))
        print("ready", flush=True)
        while not select.select([sys.stdin], [], [], _EVERY)[0]:
            count += 1
            before = clock()
            client.ask(request(_HEARTBEAT, 0, count))
            most = max(most, clock() - before)
    print(json.dumps([most, count]), flush=True)


if __name__ == "__main__":
    _main(*map(int, sys.argv[1:]))
