"""One soak: two real Kafka clusters, kproxy as a process in front of them, all the clients, and what becomes of it."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from tests.soak import good, hostile
from tests.soak.good import Victim
from tests.soak.loops import Loop, Loops
from tests.soak.verdict import Bounds, Sample, Verdict, quantile, verdicts
from tests.support import proc
from tests.support.backend import Backend
from tests.support.libraries import CONFLUENT_KAFKA, KAFKA_PYTHON
from tests.support.others import Others
from tests.support.proxy import Proxy
from tests.support.switch import Crowd, Followed, Topics
from tests.support.wait import until

CLUSTER = "soaked"
UPSTREAMS = ("west", "east")
"""Where failovers go in turn; it begins at east."""
_FLOOR = "2s"
_TELEMETRY = {"subscriptions": [{"name": "all", "metrics": ["*"], "interval": "1s"}]}
_TIMEOUTS = {"stalled_frame": "5s", "first_request": "5s"}
_SETTLED = 60.0
BOUNDS = Bounds()
FAULTLESS = "no internal error"
NOTHING_LOST = "no acknowledged record is lost"


@dataclass(frozen=True, slots=True)
class Plan:
    """How long it takes and how often something happens, in seconds; `pushing` is how many clients push metrics."""

    seconds: float
    sampled: float = 5.0
    failover: float = 60.0
    reload: float = 45.0
    pushing: int = 10
    bounds: Bounds = BOUNDS


@dataclass(frozen=True, slots=True)
class Report:
    """What came out: `moments` are the times of failovers and reloads, `done` what each client did how often."""

    samples: Sequence[Sample]
    verdicts: Sequence[Verdict]
    moments: Sequence[tuple[float, str]]
    done: Sequence[tuple[str, int, int]]
    slowed: float
    """How many times longer all may have taken, at most 2, because other processes took the processor."""

    @property
    def met(self) -> bool:
        """True when every check is met."""
        return all(verdict.met for verdict in self.verdicts)


def soak(plan: Plan, directory: Path, say: Callable[[str], None] = lambda line: None) -> Report:
    """Run it; the files of all processes are in `directory`."""
    with ExitStack() as stack:
        say("two Kafka clusters start")
        east, west = _clusters(stack)
        topics = Topics.create(east, west)
        proxy = stack.enter_context(_proxy(directory, east, west))
        say("the clients start")
        crowd = stack.enter_context(_crowd(directory, topics, proxy))
        return _Soak(plan, proxy, crowd, (east, west), say).run()


def _clusters(stack: ExitStack) -> list[Backend]:
    clusters = [Cluster(jars.KAFKA_4_3, (node,)) for node in (1, 2)]
    for cluster in clusters:
        stack.callback(cluster.stop)
        cluster.start()
    for cluster in clusters:
        cluster.wait_ready()
    return [Backend(cluster) for cluster in clusters]


def _proxy(directory: Path, east: Backend, west: Backend) -> Proxy:
    servers = {"east": east.cluster.bootstrap, "west": west.cluster.bootstrap}
    return Proxy(
        directory,
        {CLUSTER: servers},
        each={"telemetry": _TELEMETRY},
        receivers=[{"name": "prometheus", "type": "prometheus", "expiry": "30s"}],
        timeouts=_TIMEOUTS,
        topology={"interval": "1s", "epoch_floor": _FLOOR},
        state={"path": str(directory / "state.db")},
    )


def _crowd(directory: Path, topics: Topics, proxy: Proxy) -> Crowd:
    """Producers and consumers of two libraries; consumers read what the producers write."""
    kinds = [
        Followed(library, kind) for library in (CONFLUENT_KAFKA, KAFKA_PYTHON) for kind in ("producer", "consumer")
    ]
    return Crowd(kinds, directory, Topics(topics.written, topics.written), lambda _: proxy.bootstrap(CLUSTER))


class _Soak:
    """The part between start and end."""

    def __init__(
        self, plan: Plan, proxy: Proxy, crowd: Crowd, backends: Sequence[Backend], say: Callable[[str], None]
    ) -> None:
        self._plan, self._proxy, self._crowd, self._backends, self._say = plan, proxy, crowd, backends, say
        self._victim = Victim(proxy.port())
        self._upstreams = itertools.cycle(UPSTREAMS)
        self._intervals = itertools.cycle(("2s", "1s"))
        self._samples: list[Sample] = []
        self._unanswered: list[str] = []
        self._moments: list[tuple[float, str]] = []
        self._cpu = (time.monotonic(), proc.cpu_seconds(proxy.pid))

    def run(self) -> Report:
        """Let all of them work until the time is over; then look at what is left."""
        plan = self._plan
        own = [
            Loop("failovers", self._fail_over, plan.failover, first=plan.failover / 2),
            Loop("reloads", self._reload, plan.reload, first=plan.reload / 3),
        ]
        everybody = [*good.loops(self._proxy, self._victim, plan.pushing), *hostile.loops(self._proxy)]
        self._begun, others = time.monotonic(), Others()
        with Loops([*everybody, *own]) as loops:
            self._sample_until(self._begun + plan.seconds)
            slowed = others.slowed()
        found = [*verdicts(self._samples, plan.bounds), *self._faults(loops), self._lost(), self._served(loops)]
        done = [(loop.name, loop.done, loop.refused) for loop in loops.all]
        return Report(self._samples, found, self._moments, [*done, *self._records()], slowed)

    def _fail_over(self) -> None:
        to = next(self._upstreams)
        until(lambda: self._asked(to), f"a failover to {to}", _SETTLED, every=0.5)
        self._note(f"failover to {to}")

    def _asked(self, to: str) -> bool:
        status, said = self._proxy.post(f"/api/v1/clusters/{CLUSTER}/failover", {"to": to})
        assert status in (200, 429), f"failover to {to}: {status} {said}"
        return bool(status == 200)

    def _reload(self) -> None:
        self._proxy.reload(self._change)
        self._note("reload")

    def _change(self, config: dict[str, Any]) -> None:
        config["topology"]["interval"] = next(self._intervals)

    def _note(self, what: str) -> None:
        self._moments.append((time.monotonic() - self._begun, what))

    def _sample_until(self, end: float) -> None:
        over = threading.Event()
        self._victim.taken()
        while time.monotonic() + self._plan.sampled <= end:
            over.wait(self._plan.sampled)
            self._samples.append(self._sample())
            self._say(line(self._samples[-1]))

    def _sample(self) -> Sample:
        pid, taken = self._proxy.pid, self._victim.taken()
        now, cpu = time.monotonic(), proc.cpu_seconds(pid)
        share = (cpu - self._cpu[1]) / (now - self._cpu[0])
        self._cpu = now, cpu
        active = self._active()
        figures = quantile(taken, 0.5), quantile(taken, 0.99)
        files, threads = proc.open_files(pid), len(proc.threads(pid))
        return Sample(now - self._begun, self._proxy.rss, files, threads, active, *figures, share)

    def _active(self) -> int:
        """Return the relayed connections; as many as before where the admin port does not answer."""
        try:
            return int(self._proxy.metric("kproxy_connections_active"))
        except OSError as error:
            self._unanswered.append(f"{time.monotonic() - self._begun:.0f} s: {error!r}")
            return self._samples[-1].connections if self._samples else 0

    def _faults(self, loops: Loops) -> list[Verdict]:
        """Look for kproxy's own faults, where it tells of them, and for errors of the soak's own clients."""
        log = self._proxy.log.read_text(errors="replace")
        told = Counter(name for name in ("Traceback", "internal error") if name in log)
        counted = self._proxy.metric("kproxy_internal_errors_total")
        closed = self._proxy.metric("kproxy_connections_closed_total", reason="internal_error")
        figures = f"in the log {dict(told)}, kproxy_internal_errors_total {counted:g}, connections closed {closed:g}"
        errors = [f"{loop.name}: {loop.error!r}" for loop in loops.all if loop.error is not None]
        return [
            Verdict(FAULTLESS, not told and not counted and not closed, figures),
            self._answered(),
            Verdict("every client went on to the end", not errors, "; ".join(errors) or "all of them"),
        ]

    def _answered(self) -> Verdict:
        looks, late = len(self._samples), len(self._unanswered)
        figures = f"{late} of {looks} looks took more than 5 s{': ' * bool(late)}{'; '.join(self._unanswered)}"
        return Verdict("the admin port answers in time", late <= self._plan.bounds.unanswered * looks, figures)

    def _lost(self) -> Verdict:
        """Look for each acknowledged record in both clusters."""
        lost = {name: len(values) for name, values in self._crowd.lost(*self._backends).items()}
        acked = sum(len(self._crowd.successes(one)) for one in self._crowd.clients if one.kind == "producer")
        return Verdict(NOTHING_LOST, not lost and acked > 0, f"{acked} acknowledged, lost {lost}")

    def _served(self, loops: Loops) -> Verdict:
        """The good clients were served: hardly any of their actions was refused."""
        good_ones = [loop for loop in loops.all if loop.name.startswith(("victim", "churn", "scrapes", "pushes"))]
        done, refused = sum(loop.done for loop in good_ones), sum(loop.refused for loop in good_ones)
        bound = 0.02 * done + 5 * len(good_ones)  # each failover ends each connection
        return Verdict("the good clients are served", refused <= bound < done, f"{done} times, {refused} refused")

    def _records(self) -> list[tuple[str, int, int]]:
        return [
            (one.cluster, len(self._crowd.successes(one)), len(self._crowd.failures(one)))
            for one in self._crowd.clients
        ]


def line(one: Sample) -> str:
    """Return a sample as one line."""
    p50, p99 = ("   –" if each is None else f"{1000 * each:6.1f}" for each in (one.p50, one.p99))
    return (
        f"{one.at:7.0f} s  {one.rss / (1 << 20):6.1f} MiB  {one.files:4} descriptors  {one.threads:3} threads  "
        f"{one.connections:4} connections  p50 {p50} ms  p99 {p99} ms  CPU {100 * one.cpu:4.0f} %"
    )
