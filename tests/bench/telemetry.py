"""Measure client telemetry: the cost of a push by receiver, its effect on other requests, the memory of an instance."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final

from kproxy.local_kafka.broker import HOST
from kproxy.local_kafka.cluster import Cluster
from kproxy.local_kafka.ports import free_port

from . import beside, bulk, returning
from .apart import apart
from .frames import OneRecordProduce
from .growth import Growth, Pool, Spread
from .helper import Helper
from .options import Options
from .process import accepts, running, settled_rss_kib, wait_serving
from .pushed import Proxy, proxy

RATES: Final = {"prometheus": 2_000, "otlp": 6_000, "kafka": 6_000}
"""Pushes a second of the whole fleet, by receiver: the compiled kproxy must take them on a core, and drop none."""
PLAIN_RATES: Final = dict.fromkeys(RATES, 2_000)
"""The same for plain Python, at much less than a core can take."""

_MICROSECONDS: Final = 1e6


class Section:
    """The measurements of one build; `most` is how many instances may be connected, `add` takes metric and value."""

    def __init__(
        self,
        name: str,
        program: Path,
        cluster: Cluster,
        directory: Path,
        options: Options,
        most: int,
        rates: Mapping[str, int],
        add: Callable[[str, float], None],
    ) -> None:
        self._program = program
        self._topic = f"bench-telemetry-{name}"
        self._small_topic = f"bench-telemetry-small-{name}"
        self._rates = rates
        self._cluster = cluster
        self._directory = directory
        self._options = options
        self._most = most
        self._add = add

    @contextmanager
    def proxies(self) -> Iterator[list[Proxy]]:
        """Yield a kproxy for each receiver; no instance is connected yet."""
        bulk.create_topic(self._cluster.bootstrap, self._topic)
        with ExitStack() as stack:
            sink = (HOST, free_port())
            log = self._directory / "sink.log"
            process = stack.enter_context(running([sys.executable, "-m", "tests.bench.sink", str(sink[1])], log))
            wait_serving(process, lambda: accepts(sink), "sink", log)
            receivers = [
                {"type": "prometheus"},
                {"type": "otlp", "url": f"http://{HOST}:{sink[1]}/v1/metrics"},
                {"type": "kafka", "topic": self._topic},
            ]
            yield [stack.enter_context(self._proxy(receiver)) for receiver in receivers]

    @contextmanager
    def _proxy(self, receiver: Mapping[str, str], name: str | None = None) -> Iterator[Proxy]:
        with proxy(self._program, self._cluster.bootstrap, self._directory, receiver, name) as made:
            yield made

    def measure(self, proxies: list[Proxy], rounds: Callable[[str], Iterable[int]]) -> None:
        """Measure everything, in rounds in which receivers, and rates, take turns."""
        instances = self._options.instances
        for each in proxies:
            each.grow(instances)
        self._memory(proxies[0], instances)
        with closing(Helper("scraper", "tests.bench.scrape")) as scraper:
            for _ in rounds("telemetry: pushes"):
                for each in proxies:
                    self._pushes(each, scraper)
        self._requests(proxies[0], rounds)
        proxies[0].grow(self._most)
        self._memory(proxies[0], self._most)

    def _pushes(self, each: Proxy, scraper: Helper) -> None:
        scraped = each.name == "prometheus"
        if scraped:
            scraper.command(url=each.url("/metrics/clients"), after=self._options.pushing / 2)
        pushed, cpu = each.push(self._options.pushing, self._rates[each.name], self._options.instances)
        if scraped:
            scraper.answer()
        self._add(f"telemetry_{each.name}", pushed / cpu)

    def _memory(self, each: Proxy, instances: int) -> None:
        kib = (settled_rss_kib(each.pid) - each.idle_rss) / instances
        self._add(f"telemetry_kib_{'few' if instances == self._options.instances else 'many'}", kib)

    def _requests(self, relay: Proxy, rounds: Callable[[str], Iterable[int]]) -> None:
        """Measure the latency of a request on a connection of its own."""
        bulk.create_topic(self._cluster.bootstrap, self._small_topic, 1)
        request = OneRecordProduce.to(self._small_topic)
        self._beside(relay, request, rounds)
        for number in rounds("telemetry: requests beside the first push of each instance"):
            with self._proxy({"type": "prometheus"}, f"new-{number}") as new:
                seconds = returning.p99(new, self._small_topic, request, self._options.instances)
                self._add("telemetry_p99_first", seconds * _MICROSECONDS)

    def _beside(self, relay: Proxy, request: OneRecordProduce, rounds: Callable[[str], Iterable[int]]) -> None:
        """Measure requests alone and beside pushes: how p99 grows."""
        with self._proxy({"type": "prometheus"}, "other") as other:
            other.grow(self._options.instances)
            turns = beside.modes(relay, other)
            made = beside.Beside(relay, turns, relay.leader(self._small_topic), request, self._options.instances)
            with closing(made) as measured:
                measured.warm_up()
                with apart(relay.pid, [other.pid]) as divided:
                    for _ in rounds(f"telemetry: requests beside pushes{'' if divided else ', all on one processor'}"):
                        for _ in range(self._options.cycles):
                            measured.cycle()
        self._grown(measured.found)

    def _grown(self, found: Mapping[str, beside.Found]) -> None:
        growth = Growth({mode: one.blocks for mode, one in found.items()})
        alone = growth.p99(beside.NONE)
        self._spread("telemetry_p99", Spread(*(seconds * _MICROSECONDS for seconds in alone)))
        for mode in found.keys() - {beside.NONE}:
            self._spread(f"telemetry_p99_{mode}", growth.percent(mode, beside.NONE))
        for rate in beside.COMPARED:
            self._spread(f"telemetry_p99_{rate}_own", growth.percent(f"{rate}", beside.to_other(rate)))
        for mode, one in found.items():
            self._add(f"telemetry_part_{mode}", one.own_part.mean * _MICROSECONDS)
            for block in one.blocks:
                self._add(f"telemetry_block_p99_{mode}", Pool([block]).p99([1]) * _MICROSECONDS)

    def _spread(self, metric: str, spread: Spread) -> None:
        for name, value in zip(("", "_low", "_high"), spread, strict=True):
            self._add(metric + name, value)
