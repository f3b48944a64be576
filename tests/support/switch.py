"""Clients across a switch, each at a virtual cluster of its own, so that kproxy's counters distinguish them."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.support.backend import Backend
from tests.support.feed import Feed
from tests.support.libraries import Kind, Library, Role
from tests.support.long_lived import Event, LongLived
from tests.support.others import Others
from tests.support.proxy import Proxy
from tests.support.violation import never
from tests.support.wait import until

WINDOW = 10.0
"""Seconds after a switch in which a client's Metadata requests are counted."""

_REQUESTS = ("kproxy_requests_total", "kproxy_requests_refused_total")
_SUCCESS: Mapping[Kind, str] = {
    "producer": "acked",
    "consumer": "consumed",
    "share": "consumed",
    "admin": "answered",
    "fresh-admin": "answered",
}


_runs = itertools.count(1)


class Topics(NamedTuple):
    """The topics of a run, of the same names in each cluster: what consumers read and what producers write."""

    read: str
    written: str

    @classmethod
    def create(cls, *backends: Backend) -> Topics:
        """Create new topics, with three partitions."""
        run = next(_runs)
        names = cls(f"read-{run}", f"written-{run}")
        for backend in backends:
            for name in names:
                backend.topic(3, name=name)
        return names


@dataclass(frozen=True, slots=True)
class Followed:
    """One client: its library, what it does, and the name of its virtual cluster, which is its client id too."""

    library: Library
    kind: Kind

    @property
    def cluster(self) -> str:
        """The name of its virtual cluster."""
        return f"{self.library.label}-{self.kind}"


@dataclass(frozen=True, slots=True)
class Passage:
    """How a client got over a switch.

    `seconds`: from the request for the switch to its first success at the other cluster, or None.
    `notified`: how often kproxy notified it, by means; `metadata`: its Metadata requests in `WINDOW`, refused ones too;
    `silence`: the longest time without success or failure, in seconds; `errors`: those that it showed its user.
    `slowed`: how many times longer it may have taken because of other load on the machine.
    """

    client: Followed
    seconds: float | None
    notified: Mapping[str, int]
    metadata: int
    silence: float
    errors: tuple[str, ...]
    slowed: float = 1.0


class Crowd:
    """The clients' processes, one for each library; inside the context each client has had success."""

    def __init__(
        self, clients: Sequence[Followed], directory: Path, topics: Topics, bootstrap: Callable[[str], str]
    ) -> None:
        """`bootstrap` gives the bootstrap servers of a client by the name of its virtual cluster."""
        self.clients, self.topics = clients, topics
        self._bootstrap = bootstrap
        self._processes = {
            library: LongLived(library, self._roles(library), directory)
            for library in dict.fromkeys(client.library for client in clients)
        }

    def __enter__(self) -> Crowd:
        with contextlib.ExitStack() as stack:
            for process in self._processes.values():
                stack.enter_context(process)
            for client in self.clients:
                until(partial(self.successes, client), f"first success of {client.cluster}", 60)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def successes(self, client: Followed) -> list[Event]:
        """Return a client's successes so far."""
        return self._processes[client.library].events(client.kind, _SUCCESS[client.kind])

    def latest(self, client: Followed) -> float:
        """Return the time of a client's latest success, in seconds since the Unix epoch."""
        return self.successes(client)[-1].at

    def wait_past(self, client: Followed, moment: float, what: str, timeout: float = 30.0) -> None:
        """Wait for a client's success after `moment`, in seconds since the Unix epoch."""
        until(lambda: self.latest(client) > moment, what, timeout)

    def failures(self, client: Followed) -> list[Event]:
        """Return a client's failures so far, as far as its user gets to know."""
        return self._processes[client.library].events(client.kind, "error", "failed")

    def lost(self, *backends: Backend) -> dict[str, list[str]]:
        """Return each producer's records that were acknowledged up to now, but are in none of the backends."""
        producers = [client for client in self.clients if client.kind == "producer"]
        acknowledged = {client: [event.value for event in self.successes(client)] for client in producers}
        written = {value for backend in backends for value in backend.values(self.topics.written)}
        lost = {client: [value for value in values if value not in written] for client, values in acknowledged.items()}
        return {client.cluster: values for client, values in lost.items() if values}

    def check_lost(self, *backends: Backend) -> None:
        """No record that was acknowledged up to now is in none of the backends."""
        lost = self.lost(*backends)
        never(bool(lost), f"records acknowledged and in no log: {lost}")

    def arrival(
        self, client: Followed, feed: str, backend: Backend, *, since: float = 0.0, written: Container[str]
    ) -> float | None:
        """Return the time of a client's first success at a backend that `feed` feeds; `written` are its records."""

        def is_there(event: Event) -> bool:
            match client.kind:
                case "producer":
                    return event.value in written
                case "consumer" | "share":
                    return event.value.startswith(f"{feed}-")
                case "admin" | "fresh-admin":
                    return event.value == backend.cluster.cluster_id

        return next((event.at for event in self.successes(client) if event.at >= since and is_there(event)), None)

    def missing(self, feed: str, backend: Backend) -> list[Followed]:
        """Return the clients that have not had success yet at a backend that `feed` feeds."""
        written = set(backend.values(self.topics.written))
        return [one for one in self.clients if self.arrival(one, feed, backend, written=written) is None]

    def silence(self, client: Followed, since: float) -> float:
        """Return the longest time, up to now, in which a client neither succeeded nor failed, in seconds."""
        done = sorted(event.at for event in (*self.successes(client), *self.failures(client)) if event.at >= since)
        return max(after - before for before, after in itertools.pairwise((since, *done, time.time())))

    def log(self, client: Followed) -> str:
        """Return the end of the output of a client's process."""
        return self._processes[client.library].tail()

    def _roles(self, library: Library) -> dict[str, Role]:
        return {
            client.kind: Role(
                client.kind,
                self._bootstrap(client.cluster),
                self.topics.written if client.kind == "producer" else self.topics.read,
                client.cluster,
            )
            for client in self.clients
            if client.library is library
        }


@contextlib.contextmanager
def fed(backends: Mapping[str, Backend], topic: str) -> Iterator[None]:
    """Let records named after each backend appear in it, as long as the context lasts."""
    with contextlib.ExitStack() as stack:
        for name, backend in backends.items():
            stack.enter_context(Feed(name, backend, topic))
        yield


def switch(crowd: Crowd, proxy: Proxy, to: str, backend: Backend, expected: Mapping[Followed, float]) -> list[Passage]:
    """Fail over every client's virtual cluster to the upstream `to`, behind which `backend` is, and watch them.

    It ends when all `expected` clients have arrived, or the longest of their times is over; not before the window.
    """
    before, others = _Counts.of(proxy), Others()
    begun = {client: _begin(client, proxy, to) for client in crowd.clients}
    end = max(begun.values()) + WINDOW
    until(lambda: time.time() > end, "the window", 2 * WINDOW)
    in_window, slowed = _Counts.of(proxy), others.slowed()
    with contextlib.suppress(AssertionError):  # clients that did not arrive are in the result, which says more
        longest = slowed * max(expected.values())
        until(lambda: not set(crowd.missing(to, backend)) & set(expected), "arrivals", longest, 1)
    written, after = set(backend.values(crowd.topics.written)), _Counts.of(proxy)

    def passage(client: Followed) -> Passage:
        at, name = begun[client], client.cluster
        arrived = crowd.arrival(client, to, backend, since=at, written=written)
        return Passage(
            client,
            None if arrived is None else arrived - at,
            after.notified[name] - before.notified[name],
            in_window.metadata[name] - before.metadata[name],
            crowd.silence(client, at),
            tuple(event.value for event in crowd.failures(client) if event.at >= at),
            slowed,
        )

    return [passage(client) for client in crowd.clients]


def _begin(client: Followed, proxy: Proxy, to: str) -> float:
    begun = time.time()
    said = proxy.fail_over(client.cluster, to)
    assert said["upstream"] == to, said
    return begun


@dataclass(frozen=True, slots=True)
class _Counts:
    """kproxy's counters at one moment, by virtual cluster: Metadata requests, served or refused, and notifications."""

    metadata: Counter[str]
    notified: Mapping[str, Counter[str]]

    @classmethod
    def of(cls, proxy: Proxy) -> _Counts:
        metadata: Counter[str] = Counter()
        notified: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for name, labels, value in proxy.samples():
            if name in _REQUESTS and labels["api"] == "Metadata":
                metadata[labels["cluster"]] += int(value)
            if name == "kproxy_clients_told_total":
                notified[labels["cluster"]][labels["means"]] += int(value)
        return cls(metadata, notified)
