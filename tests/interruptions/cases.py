"""The interruptions, each with real clients and real clusters: what is done to them, and how long they are watched."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from tests.conftest import NODE_IDS
from tests.interruptions.gaps import Gap, error_name, longest
from tests.support import libraries
from tests.support.backend import Backend
from tests.support.proxy import Proxy, Servers
from tests.support.switch import Crowd, Followed, Topics, fed
from tests.support.wait import until

LIBRARIES = tuple(one for one in libraries.EVERY_LIBRARY if one is not libraries.JAVA_3_9_DEFAULT)
CLIENTS = tuple(Followed(library, kind) for library in LIBRARIES for kind in ("producer", "consumer"))
NAME = "orders"
SHORT = 20.0
"""Seconds for which clients are watched."""
LONG = 45.0
"""The same after a failback: a dead member holds its group up for 45 s at most, by Java's default session timeout."""
AFTER = 3.0
"""`failover.after`, in seconds."""


@dataclass(frozen=True)
class Clusters:
    """`old` has three nodes of Kafka 4.3.1, `new` one of 4.4.0."""

    old: Backend
    new: Backend

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[Clusters]:
        """Start both; they end with the context."""
        settings = {"min.insync.replicas": 2}
        with Cluster(jars.KAFKA_4_3, NODE_IDS, settings=settings) as old, Cluster(jars.KAFKA_4_4, (0,)) as new:
            yield cls(Backend(old), Backend(new))


@dataclass
class Watch:
    """Clients at work. `gaps` has what each interruption meant to them."""

    crowd: Crowd
    gaps: list[Gap]

    def interrupt(self, case: str, act: Callable[[], object], seconds: float = SHORT) -> None:
        """Do something to the clients, and watch them from that moment on."""
        begun = time.time()
        act()
        self._pass(begun + seconds)
        self.gaps += [self._gap(client, case, begun, begun + seconds) for client in self.crowd.clients]

    def rest(self, seconds: float) -> None:
        """Let the clients work."""
        self._pass(time.time() + seconds)

    def _pass(self, moment: float) -> None:
        until(lambda: time.time() > moment, "the end of a watch", moment - time.time() + 5)

    def _gap(self, client: Followed, case: str, begun: float, ended: float) -> Gap:
        seconds = longest((one.at for one in self.crowd.successes(client)), begun, ended)
        shown = Counter(error_name(one.value) for one in self.crowd.failures(client) if begun < one.at < ended)
        return Gap(client.library, client.kind, case, seconds, shown)


@contextmanager
def at_work(directory: Path, backends: Mapping[str, Backend], bootstrap: Callable[[], str]) -> Iterator[Watch]:
    """Yield all clients, producing and consuming through what `bootstrap` names. No acknowledged record may be lost."""
    topics = Topics.create(*backends.values())
    for backend in backends.values():
        backend.open_coordinator(topics.read)
    with fed(backends, topics.read), Crowd(CLIENTS, directory, topics, lambda _: bootstrap()) as crowd:
        yield Watch(crowd, [])
        crowd.check_lost(*backends.values())


def servers(backends: Mapping[str, Backend]) -> dict[str, Servers]:
    """Return the bootstrap servers of the one virtual cluster, with all backends as its upstreams."""
    return {NAME: {name: one.cluster.bootstrap for name, one in backends.items()}}


def failovers(clusters: Clusters, directory: Path) -> list[Gap]:
    """An operator's failover; back after 15 s; away again, and back after 70 s."""
    backends = {"old": clusters.old, "new": clusters.new}
    with (
        Proxy(directory, servers(backends)) as proxy,
        at_work(directory, backends, proxy.bootstrap) as watch,
    ):
        watch.interrupt("failover", lambda: proxy.fail_over(NAME, "new"), 15.0)
        watch.interrupt("failback 15 s later", lambda: proxy.fail_over(NAME, "old"), LONG)
        proxy.fail_over(NAME, "new")
        watch.rest(70.0)
        watch.interrupt("failback 70 s later", lambda: proxy.fail_over(NAME, "old"), LONG)
        return watch.gaps


def drained(clusters: Clusters, directory: Path) -> list[Gap]:
    """One of two replicas drains with `drain.rebootstrap`; the clients bootstrap from both."""
    backends, drain = {"old": clusters.old}, {"rebootstrap": True, "deadline": "5s"}
    (directory / "sibling").mkdir()
    with (
        Proxy(directory / "sibling", servers(backends)) as sibling,
        Proxy(directory, servers(backends), drain=drain) as replica,
        at_work(directory, backends, lambda: f"{replica.bootstrap()},{sibling.bootstrap()}") as watch,
    ):
        watch.interrupt("drain to a sibling", lambda: replica.signal(signal.SIGTERM))
        assert replica.exited == 0
        return watch.gaps


def killed(clusters: Clusters, directory: Path) -> list[Gap]:
    """kproxy is killed (SIGKILL) and started again."""
    backends = {"old": clusters.old}
    with Proxy(directory, servers(backends)) as proxy, at_work(directory, backends, proxy.bootstrap) as watch:

        def restart() -> None:
            proxy.kill()
            proxy.start()

        watch.interrupt("kill -9 and restart", restart)
        return watch.gaps


def died(clusters: Clusters, directory: Path) -> list[Gap]:
    """The only broker of the active cluster is killed, and kproxy fails over by itself."""
    automatic = {"failover": {"automatic": True, "after": f"{AFTER:g}s"}}
    with Cluster(jars.KAFKA_4_3, (7,)) as cluster:
        backends = {"old": Backend(cluster), "new": clusters.new}
        with (
            Proxy(directory, servers(backends), each=automatic) as proxy,
            at_work(directory, backends, proxy.bootstrap) as watch,
        ):
            watch.interrupt("automatic failover, broker killed", cluster.brokers[7].kill, 30.0)
            cluster.restart(7)  # so that its log can be read
            return watch.gaps


CASES = (failovers, drained, killed, died)
