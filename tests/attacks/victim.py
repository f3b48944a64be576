"""Healthy clients beside an attack, in a process of their own: one of the relay, one of the admin port.

Where the relay speaks TLS, or authenticates clients, there is one more, which connects anew each time.
`python -m tests.attacks.victim PORT ADMIN_PORT PID BROKER_PID [AUTHORITY [NAME PASSWORD]]`.
Each line on standard input begins another phase, and is answered with what the one before was like: `Phase.described`.
"""

from __future__ import annotations

import http.client
import json
import ssl
import statistics
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from tests.support.raw import HOST, RawClient, api_versions, metadata
from tests.support.share import share_of

EVERY: Final = 0.005
"""Seconds between two requests to the relay."""
PROBE_EVERY: Final = 0.05
"""Seconds between two probes of `/livez`."""
GREET_EVERY: Final = 0.05
"""Seconds between two new connections, where the relay speaks TLS or authenticates clients."""
PATIENCE: Final = 60
"""Seconds after which a request counts as lost."""


@dataclass
class Phase:
    """What one healthy client saw: seconds of each request, how many failed, the last failure.

    `busy` is the most processor time that kproxy's main thread took during a request, in seconds, by `share_of`.
    """

    seconds: list[float] = field(default_factory=list)
    busy: float = 0.0
    failed: int = 0
    failure: str = ""

    def described(self) -> dict[str, float | str]:
        """Return milliseconds: p50, p99, slowest."""
        taken = sorted(self.seconds)
        if not taken:
            return {"count": 0, "failed": self.failed, "failure": self.failure}
        p99 = taken[min(len(taken) - 1, len(taken) * 99 // 100)]
        return {
            "count": len(taken),
            "p50": statistics.median(taken) * 1000,
            "p99": p99 * 1000,
            "slowest": taken[-1] * 1000,
            "busy": self.busy * 1000,
            "failed": self.failed,
            "failure": self.failure,
        }


class Beside:
    """Calls `ask` at fixed times, in a thread. A late answer makes the ones that were due meanwhile late, too."""

    def __init__(self, every: float, ask: Callable[[], None], busy: Callable[[], float]) -> None:
        self._every = every
        self._busy = busy
        self._ask = ask
        self._phase = Phase()
        self._turn = threading.Lock()
        threading.Thread(target=self._run, daemon=True).start()

    def cut(self) -> Phase:
        """End the phase, with the request that is under way, and return it."""
        with self._turn:
            phase, self._phase = self._phase, Phase()
            return phase

    def _run(self) -> None:
        due = time.perf_counter()
        while True:
            due += self._every
            threading.Event().wait(max(0.0, due - time.perf_counter()))
            with self._turn:
                due = self._one()

    def _one(self) -> float:
        """Ask once; return the time from which the next request is due."""
        begun, busy, failure = time.perf_counter(), self._busy(), ""
        try:
            self._ask()
        except (OSError, EOFError, AssertionError, http.client.HTTPException) as error:
            failure = repr(error)
        now = time.perf_counter()
        self._phase.busy = max(self._phase.busy, self._busy() - busy)
        if failure:
            self._phase.failed += 1
            self._phase.failure = failure
        # The requests that were due while this one waited would have waited for what was left of it.
        waited = now - begun
        while waited > 0:
            self._phase.seconds.append(waited)
            waited -= self._every
        return now


class Relayed:
    """One connection through kproxy, on which a small request follows the other; opened again when it broke."""

    def __init__(self, connect: Callable[[], RawClient]) -> None:
        self._connect = connect
        self._client: RawClient | None = None
        self._sent = 0

    def ask(self) -> None:
        """Ask for metadata and wait for the answer."""
        try:
            if self._client is None:
                self._client = self._connect()
                self._client.ask(api_versions(0))
            self._sent += 1
            self._client.ask(metadata(self._sent))
        except (OSError, EOFError, AssertionError):
            if self._client is not None:
                self._client.close()
            self._client = None
            raise


def greet(connect: Callable[[], RawClient]) -> None:
    """Connect, and ask once."""
    with connect() as client:
        client.ask(api_versions(0))


def probe(admin_port: int) -> None:
    """Ask for `/livez` as a kubelet does, on a connection of its own; raise unless it is 200."""
    connection = http.client.HTTPConnection(HOST, admin_port, timeout=10)
    try:
        connection.request("GET", "/livez")
        response = connection.getresponse()
        response.read()
        if response.status != http.HTTPStatus.OK:
            raise http.client.HTTPException(f"/livez: {response.status}")
    finally:
        connection.close()


def main(port: str, admin_port: str, pid: str, broker: str, authority: str = "", *login: str) -> None:
    """Answer each command until standard input ends.

    `authority` is that of kproxy's certificate, where it has one; `login` the name and password of clients.
    """
    tls = ssl.create_default_context(cafile=authority) if authority else None
    known = (login[0], login[1]) if login else None
    connect = partial(RawClient, int(port), timeout=PATIENCE, tls=tls, login=known)
    busy = share_of(int(pid), int(broker))
    relayed = Beside(EVERY, Relayed(connect).ask, busy)
    probed = Beside(PROBE_EVERY, lambda: probe(int(admin_port)), busy)
    clients = {"relay": relayed, "livez": probed}
    if tls is not None or known is not None:
        clients["greeted"] = Beside(GREET_EVERY, partial(greet, connect), busy)
    for _ in sys.stdin:
        print(json.dumps({name: client.cut().described() for name, client in clients.items()}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
