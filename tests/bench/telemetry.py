"""Client telemetry: what a push costs by receiver, what it does to requests beside it, what an instance takes."""

from __future__ import annotations

import http.client
import json
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from kproxy.demo.broker import HOST
from kproxy.demo.kafka import Cluster
from kproxy.demo.ports import free_port, free_ports

from . import bulk, small
from .frames import OneRecordProduce
from .options import Options
from .process import Address, BenchError, accepts, cpu_seconds, running, settled_rss_kib, wait_serving, wait_until
from .targets import ready

INTERVAL: Final = 0.1
"""Between two pushes of an instance, in seconds: the lowest that may be, so that it is the fleet that sets the pace."""
SCRAPE_INTERVAL: Final = 15.0
RATES: Final = {"prometheus": 2_000, "otlp": 6_000, "kafka": 6_000}
"""Pushes a second of the whole fleet, by receiver: what the compiled kproxy is to take on a core, dropping none."""
PLAIN_RATES: Final = dict.fromkeys(RATES, 2_000)
"""The same for plain Python: a good deal less than a core takes."""
BESIDE: Final = (7, 200, 2_000)
"""Pushes a second beside other requests: 2,000 instances at Kafka's default of 5 minutes, at 10 s, at 1 s."""

_TOPIC: Final = "bench-telemetry"
_SMALL_TOPIC: Final = "bench-telemetry-small"
_COUNTED: Final = re.compile(r"^kproxy_telemetry_receiver_(delivered|dropped|offered)_total\{.*\} (\S+)$", re.MULTILINE)
_MICROSECONDS: Final = 1e6
_GENTLY: Final = 500  # pushes a second, while most are the first of their instance, which cost most
_WARM_UP: Final = 3  # pushes of each instance, so that it has pushed what is kept of it


class Fleet:
    """The process of simulated instances; `fleet.py` says what it takes."""

    def __init__(self, address: Address) -> None:
        command = [sys.executable, "-m", "tests.bench.fleet", address[0], str(address[1])]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self) -> None:
        """End it, with all its connections."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.kill()
        self._process.wait()

    def grow(self, instances: int) -> None:
        """Have so many instances, subscribed."""
        self.tell(instances=instances)
        self.answer()

    def tell(self, **command: float) -> None:
        """Have it begin."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, float]:
        """What it did; waits for it."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise BenchError("the fleet ended; see above")
        answer: dict[str, float] = json.loads(line)
        return answer


@dataclass(frozen=True, slots=True)
class Proxy:
    """A kproxy with telemetry on and one receiver, and its fleet. `idle_rss` is from before the fleet, in KiB."""

    receiver: str
    pid: int
    listen: Address
    admin: Address
    fleet: Fleet
    idle_rss: float

    def push(self, seconds: float, rate: float, instances: int) -> tuple[float, float]:
        """Pushes and the CPU seconds that they took, until all were delivered; raises BenchError when any was not."""
        before, cpu = self._counts(), cpu_seconds(self.pid)
        self.fleet.tell(seconds=seconds, interval=instances / rate)
        pushed = round(self.fleet.answer()["pushed"])

        def delivered() -> bool:
            found = self._counts()
            if found["dropped"] or found["offered"] > before["offered"] + pushed:
                raise BenchError(
                    f"{self.receiver}: {pushed} were pushed, and it has {dict(found)} after {dict(before)}"
                )
            return found["delivered"] == before["delivered"] + pushed

        # What it costs to be asked is a thousandth of what it is asked about.
        wait_until(delivered, f"{self.receiver} delivers {pushed} pushes", 120, every=0.5)
        return pushed, cpu_seconds(self.pid) - cpu

    def _counts(self) -> Counter[str]:
        """Pushes to its receiver by what became of them."""
        connection = http.client.HTTPConnection(*self.admin, timeout=30)
        connection.request("GET", "/metrics")
        page = connection.getresponse().read().decode()
        connection.close()
        found: Counter[str] = Counter()
        for name, value in _COUNTED.findall(page):
            found[name] += round(float(value))
        return found

    @contextmanager
    def scraped(self, first: float) -> Iterator[None]:
        """Have the clients' page scraped, if it has one, at first after so many seconds."""
        if self.receiver != "prometheus":
            yield
            return
        url = f"http://{self.admin[0]}:{self.admin[1]}/metrics/clients"
        command = [sys.executable, "-m", "tests.bench.scrape", url, str(first), str(SCRAPE_INTERVAL)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                yield
            finally:
                process.terminate()
                if not process.communicate()[0]:
                    raise BenchError("the clients' page was not scraped within its time")


class Section:
    """One run of a kproxy; `most` is how many instances may be connected, `add` takes a sample: metric, value."""

    def __init__(
        self,
        program: Path,
        cluster: Cluster,
        directory: Path,
        options: Options,
        most: int,
        rates: Mapping[str, int],
        add: Callable[[str, float], None],
    ) -> None:
        self._program = program
        self._rates = rates
        self._cluster = cluster
        self._directory = directory
        self._options = options
        self._most = most
        self._add = add

    @contextmanager
    def proxies(self) -> Iterator[list[Proxy]]:
        """A kproxy for each receiver, with its fleet of connected instances that have pushed."""
        bulk.create_topic(self._cluster.bootstrap, _TOPIC)
        with ExitStack() as stack:
            sink = (HOST, free_port())
            log = self._directory / "sink.log"
            process = stack.enter_context(running([sys.executable, "-m", "tests.bench.sink", str(sink[1])], log))
            wait_serving(process, lambda: accepts(sink), "sink", log)
            made = {
                "prometheus": {},
                "otlp": {"url": f"http://{HOST}:{sink[1]}/v1/metrics"},
                "kafka": {"topic": _TOPIC},
            }
            yield [stack.enter_context(self._proxy(name, settings)) for name, settings in made.items()]

    @contextmanager
    def _proxy(self, receiver: str, settings: Mapping[str, str]) -> Iterator[Proxy]:
        listen, admin = (HOST, free_ports(8)[0]), (HOST, free_port())
        path, log = self._directory / f"{receiver}.yaml", self._directory / f"{receiver}.log"
        config = _config(self._cluster.bootstrap, listen, admin, {"name": receiver, "type": receiver, **settings})
        path.write_text(yaml.safe_dump(config))
        with running([str(self._program), "serve", "--config", str(path)], log) as process:
            wait_serving(process, lambda: ready(admin), receiver, log)
            fleet = Fleet(listen)
            try:
                yield Proxy(receiver, process.pid, listen, admin, fleet, settled_rss_kib(process.pid))
            finally:
                fleet.close()

    def measure(self, proxies: list[Proxy], rounds: Callable[[str], Iterable[int]]) -> None:
        """All of it, in rounds in which receivers, and rates, take turns."""
        instances = self._options.instances
        for proxy in proxies:
            proxy.fleet.grow(instances)
            self._warm_up(proxy, instances)
        self._memory(proxies[0], instances)
        for _ in rounds("telemetry: pushes"):
            for proxy in proxies:
                with proxy.scraped(self._options.pushing / 2):
                    pushed, cpu = proxy.push(self._options.pushing, self._rates[proxy.receiver], instances)
                self._add(f"telemetry_{proxy.receiver}", pushed / cpu)
        self._beside(proxies[0], proxies[1], rounds)
        proxies[0].fleet.grow(self._most)
        self._warm_up(proxies[0], self._most)
        self._memory(proxies[0], self._most)

    @staticmethod
    def _warm_up(proxy: Proxy, instances: int) -> None:
        proxy.push(_WARM_UP * instances / _GENTLY, _GENTLY, instances)

    def _memory(self, proxy: Proxy, instances: int) -> None:
        kib = (settled_rss_kib(proxy.pid) - proxy.idle_rss) / instances
        self._add(f"telemetry_kib_{'few' if instances == self._options.instances else 'many'}", kib)

    def _beside(self, proxy: Proxy, other: Proxy, rounds: Callable[[str], Iterable[int]]) -> None:
        """The latency of a request on a connection of its own, alone and beside pushes: how p99 grows.

        Pushes to another kproxy take nothing but the machine from it.
        """
        bulk.create_topic(self._cluster.bootstrap, _SMALL_TOPIC, 1)
        request = OneRecordProduce.to(_SMALL_TOPIC)
        leader = bulk.leader_address(f"{proxy.listen[0]}:{proxy.listen[1]}", _SMALL_TOPIC)
        for _ in rounds("telemetry: requests beside pushes"):
            alone = self._p99(small.latencies_during(leader, request, self._options.pushing))
            self._add("telemetry_p99", alone)
            for name, pushed, rate in (*((f"{rate}", proxy, rate) for rate in BESIDE), ("other", other, BESIDE[-1])):
                with pushed.scraped(self._options.pushing / 2):
                    pushed.fleet.tell(seconds=self._options.pushing, interval=self._options.instances / rate)
                    beside = self._p99(small.latencies_during(leader, request, self._options.pushing))
                    pushed.fleet.answer()
                self._add(f"telemetry_p99_{name}", (beside / alone - 1) * 100)

    @staticmethod
    def _p99(latencies: list[float]) -> float:
        return statistics.quantiles(latencies, n=100)[98] * _MICROSECONDS


def _config(bootstrap: str, listen: Address, admin: Address, receiver: Mapping[str, str]) -> dict[str, Any]:
    everything = {"interval": INTERVAL, "subscriptions": [{"name": "everything", "metrics": "*"}]}
    cluster = {"name": "bench", "bootstrap_servers": bootstrap, "listen": f"{listen[0]}:{listen[1]}"}
    return {
        "admin": f"{admin[0]}:{admin[1]}",
        "clusters": [{**cluster, "telemetry": everything}],
        "receivers": [dict(receiver)],
    }
