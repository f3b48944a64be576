"""The measurements of one run: rounds in which the targets take turns, so that disturbances hit all."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kproxy.local_kafka.cluster import Cluster
from tests.support.authority import Authority

from . import bulk, connecting, idle, metadata, small, telemetry, tls
from .frames import OneRecordProduce
from .options import LATENCY_ROUNDS, START_ROUNDS, Options
from .process import Address, BenchError, rss_kib
from .start import start
from .targets import (
    BEFORE,
    COMPILED,
    KPROXY,
    Target,
    compiled_program,
    direct,
    haproxy,
    haproxy_binary,
    kproxy,
    program,
)

_GIB: Final = 1 << 30
_MICROSECONDS: Final = 1e6
_SMALL_TOPIC: Final = "bench-small"
_WARM_UP_RECORDS: Final = 100_000
_SETTINGS: Final = {
    "num.network.threads": 3,
    "num.io.threads": 8,
    "file.delete.delay.ms": 100,  # deleted topics give their space back at once
    "socket.listen.backlog.size": 1024,  # Kafka's 50 drops the bursts that open 10,000 connections
    "connections.max.idle.ms": 1_800_000,
}


def _turned(targets: Sequence[Target], number: int) -> Sequence[Target]:
    """Return the targets, in reverse order each second round: the after-effects of one then hit another one."""
    return targets[::-1] if number % 2 else targets


@dataclass(slots=True)
class Samples:
    """One value a round, by metric and target."""

    values: dict[str, dict[str, list[float]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    notes: list[str] = field(default_factory=list)

    def add(self, metric: str, target: str, value: float) -> None:
        self.values[metric][target].append(value)

    def note(self, line: str) -> None:
        if line not in self.notes:
            self.notes.append(line)


class Run:
    """One run; `samples` fills while it goes on, so that an interrupted run shows what it has."""

    def __init__(
        self,
        options: Options,
        directory: Path,
        file_limit: int,
        say: Callable[[str], None],
        before: Path | None = None,
    ) -> None:
        self.options = options
        self.samples = Samples()
        self._directory = directory
        self._connections = min(options.idle, idle.possible(file_limit))
        self._say = say
        self._programs = {KPROXY: program()}
        self._deadline = time.monotonic() + options.seconds
        if haproxy_binary() is None:
            self.samples.note("HAProxy is not installed (Debian: apt-get install haproxy): no ratios.")
        try:
            if (compiled := compiled_program()) is not None:
                self._programs[COMPILED] = compiled
        except BenchError as error:
            self.samples.note(str(error))
        if before is not None:
            # Only two builds of the same kind can be compared, and a third one would take a third of the rounds.
            after = COMPILED if COMPILED in self._programs else KPROXY
            self._programs = {BEFORE: before, after: self._programs[after]}

    def measure(self) -> None:
        """Measure all sections that were asked for."""
        if "metadata" in self.options.sections:
            self._say("Metadata")
            self.samples.add("metadata", KPROXY, metadata.milliseconds())
        if self.options.sections - {"metadata"}:
            self._say("Kafka starts")
            # Not the harness' quick JVM, which stops at the first compiler: the brokers must not be the limit.
            with Cluster(front=True, heap_mb=512, options=(), settings=_SETTINGS) as cluster:
                self._with_kafka(cluster)

    def _with_kafka(self, cluster: Cluster) -> None:
        sections = self.options.sections
        if "start" in sections:
            for _ in self._rounds("start", START_ROUNDS):
                for name, command in self._programs.items():
                    seconds, cpu, rss = start(cluster.bootstrap, self._directory, command)
                    self.samples.add("ready", name, seconds)
                    self.samples.add("ready_cpu", name, cpu)
                    self.samples.add("rss_start", name, rss / 1024)
        if sections & {"produce", "fetch", "small", "latency", "connect"}:
            self._under_load(cluster)
        if "idle" in sections:
            self._idle(cluster)
        if "telemetry" in sections:
            self._telemetry(cluster)
        if "tls" in sections:
            self._tls(cluster)

    def _proxies(self, cluster: Cluster, stack: ExitStack, authority: Authority | None = None) -> list[Target]:
        proxies = [
            kproxy(cluster, self._directory, name, command, authority) for name, command in self._programs.items()
        ]
        if haproxy_binary() is not None:
            proxies.insert(0, haproxy(cluster, self._directory, self._connections, authority))
        return [stack.enter_context(proxy) for proxy in proxies]

    def _under_load(self, cluster: Cluster) -> None:
        with ExitStack() as stack:
            targets = [direct(cluster), *self._proxies(cluster, stack)]
            for target in targets:
                if target.pid is not None and target.name not in self._programs:
                    self.samples.add("rss_start", target.name, target.rss_at_start / 1024)
            if self.options.sections & {"produce", "fetch"}:
                self._bulk(targets, cluster.bootstrap, fetches="fetch" in self.options.sections)
            self._small(targets)
            for target in targets:
                if target.pid is not None:
                    self.samples.add("rss_load", target.name, rss_kib(target.pid) / 1024)

    def _bulk(self, targets: Sequence[Target], home: str, *, fetches: bool = True, kind: str = "") -> None:
        """Write and read much; `kind` begins the metrics' names."""
        bulk.create_topic(home, "bench-warm-up")
        for target in targets:
            bulk.produce(target.bootstrap, "bench-warm-up", _WARM_UP_RECORDS, target.ca)
            bulk.fetch(target.bootstrap, "bench-warm-up", _WARM_UP_RECORDS, target.ca)
        bulk.delete_topic(home, "bench-warm-up")
        gib = self.options.records * bulk.RECORD_BYTES / _GIB
        for number in self._rounds(f"{kind}produce and fetch", self.options.rounds):
            for target in _turned(targets, number):
                topic = f"bench-{kind}{number}-{target.name}"
                bulk.create_topic(home, topic)
                self._work(f"{kind}produce", target, gib, bulk.produce, topic)
                if fetches:
                    self._work(f"{kind}fetch", target, gib, bulk.fetch, topic)
                bulk.delete_topic(home, topic)

    def _work(
        self, name: str, target: Target, gib: float, work: Callable[[str, str, int, str], float], topic: str
    ) -> None:
        before = target.cpu()
        seconds = work(target.bootstrap, topic, self.options.records, target.ca)
        if target.pid is not None:
            self.samples.add(f"{name}_cpu", target.name, (target.cpu() - before) / gib)
        self.samples.add(f"{name}_rate", target.name, gib * 1024 / seconds)

    def _small(self, targets: Sequence[Target]) -> None:
        sections = self.options.sections & {"small", "latency", "connect"}
        if not sections:
            return
        bulk.create_topic(targets[0].bootstrap, _SMALL_TOPIC, 1)
        request = OneRecordProduce.to(_SMALL_TOPIC)
        leaders = {target.name: bulk.leader_address(target.bootstrap, _SMALL_TOPIC) for target in targets}
        for leader in leaders.values():
            small.closed_loop(leader, request, 5_000)
        if "small" in sections:
            for number in self._rounds("small requests", self.options.rounds):
                for target in _turned(targets, number):
                    self._requests(target, leaders[target.name], request)
        if "latency" in sections:
            for _ in self._rounds("latency", LATENCY_ROUNDS * self.options.rounds):
                for name, latencies in small.latencies(leaders, request, self.options.latencies).items():
                    percentiles = statistics.quantiles(latencies, n=100)
                    self.samples.add("p50", name, percentiles[49] * _MICROSECONDS)
                    self.samples.add("p99", name, percentiles[98] * _MICROSECONDS)
        if "connect" in sections:
            for number in self._rounds("connections", self.options.rounds):
                for target in _turned(targets, number):
                    self._connects(target, leaders[target.name])

    def _connects(self, target: Target, leader: Address) -> None:
        count, before = self.options.connects, target.cpu()
        alone = statistics.quantiles(connecting.first_responses(leader, count), n=100)
        if target.pid is not None:
            self.samples.add("connect_cpu", target.name, (target.cpu() - before) / count * 1000)
        with connecting.busy(leader, _SMALL_TOPIC):
            beside = statistics.quantiles(connecting.first_responses(leader, count), n=100)
        for what, percentiles in (("", alone), ("_busy", beside)):
            self.samples.add(f"connect{what}_p50", target.name, percentiles[49] * _MICROSECONDS)
            self.samples.add(f"connect{what}_p99", target.name, percentiles[98] * _MICROSECONDS)

    def _requests(self, target: Target, leader: tuple[str, int], request: OneRecordProduce) -> None:
        count, before, start_time = self.options.requests, target.cpu(), time.perf_counter()
        small.closed_loop(leader, request, count)
        self.samples.add("small_rate", target.name, count / (time.perf_counter() - start_time))
        if target.pid is not None:
            self.samples.add("small_cpu", target.name, (target.cpu() - before) / count * 100_000)

    def _idle(self, cluster: Cluster) -> None:
        if self._connections < self.options.idle:
            self.samples.note(f"{self._connections} idle connections: the limit of open files allows no more.")
        for _ in self._rounds("idle connections", 1):
            with ExitStack() as stack:
                for target in self._proxies(cluster, stack):
                    self.samples.add("idle", target.name, idle.kib_a_connection(target, self._connections))

    def _tls(self, cluster: Cluster) -> None:
        with ExitStack() as stack:
            targets = self._proxies(cluster, stack, Authority(self._directory))
            self._bulk(targets, cluster.bootstrap, kind="tls_")
            for number in self._rounds("TLS handshakes", self.options.rounds):
                for target in _turned(targets, number):
                    before = target.cpu()
                    tls.shake_hands(target, self.options.handshakes)
                    self.samples.add("tls_handshakes", target.name, self.options.handshakes / (target.cpu() - before))
            for target in targets:
                self.samples.add("tls_idle", target.name, tls.kib_a_connection(target, self.options.handshakes))

    def _telemetry(self, cluster: Cluster) -> None:
        # One of the two, for lack of time: that of the image where there is one.
        after = COMPILED if COMPILED in self._programs else KPROXY
        rates = telemetry.RATES if after == COMPILED else telemetry.PLAIN_RATES
        for name in (BEFORE, after) if BEFORE in self._programs else (after,):
            self._telemetry_of(cluster, name, rates)

    def _telemetry_of(self, cluster: Cluster, name: str, rates: Mapping[str, int]) -> None:
        self._say(f"telemetry: fleets of instances, {name}")

        def add(metric: str, value: float) -> None:
            self.samples.add(metric, name, value)

        section = telemetry.Section(
            name, self._programs[name], cluster, self._directory, self.options, self._connections, rates, add
        )
        with section.proxies() as proxies:
            section.measure(proxies, lambda what: self._rounds(what, self.options.rounds))

    def _rounds(self, what: str, count: int) -> Iterable[int]:
        """Yield the rounds that there is time for, at least one."""
        for number in range(count):
            if number and time.monotonic() > self._deadline:
                self.samples.note(f"{what}: {number} of {count} rounds, for lack of time.")
                return
            self._say(f"{what}, round {number + 1} of {count}")
            yield number
