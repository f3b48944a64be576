"""A kproxy with telemetry on and one receiver, and the fleet of simulated instances that is connected to it."""

from __future__ import annotations

import http.client
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from kproxy.local_kafka.broker import HOST
from kproxy.local_kafka.ports import free_port, free_ports
from tests.support.proc import family_cpu_seconds

from . import bulk
from .helper import Helper
from .process import Address, BenchError, running, settled_rss_kib, wait_serving, wait_until
from .targets import ready

INTERVAL: Final = 0.1
"""Seconds between two pushes of an instance: the lowest allowed value, so that the fleet sets the pace."""
_COUNTED: Final = re.compile(r"^kproxy_telemetry_receiver_(delivered|dropped|offered)_total\{.*\} (\S+)$", re.MULTILINE)
_OWN_PART: Final = re.compile(
    r'^kproxy_request_proxy_duration_seconds_(bucket|sum)\{api="Produce",[^}]*?(?:le="([^"]*)"[^}]*)?\} (\S+)$',
    re.MULTILINE,
)
_GENTLY: Final = 500  # pushes a second while most are the first of their instance: those cost most
_WARM_UP: Final = 3  # pushes of each instance, so that it has pushed everything that kproxy keeps of it
_PATIENCE: Final = 120


class OwnPart(NamedTuple):
    """kproxy's own share of the time of requests: how many stayed `within` a bound, and the seconds of all."""

    within: Counter[str]
    seconds: float

    def since(self, before: OwnPart) -> OwnPart:
        """Return the share of the requests in between."""
        return OwnPart(self.within - before.within, self.seconds - before.seconds)

    @property
    def mean(self) -> float:
        """Seconds of a request, on average."""
        return self.seconds / self.within["+Inf"]

    def plus(self, other: OwnPart) -> OwnPart:
        """Return the share of both."""
        return OwnPart(self.within + other.within, self.seconds + other.seconds)


@dataclass(frozen=True, slots=True)
class Proxy:
    """A kproxy and its fleet; `idle_rss` is from before the fleet, in KiB."""

    name: str
    pid: int
    listen: Address
    admin: Address
    fleet: Helper
    idle_rss: float

    def leader(self, topic: str) -> Address:
        """Return the address that its clients get for the topic's only partition."""
        return bulk.leader_address(f"{self.listen[0]}:{self.listen[1]}", topic)

    def join(self, instances: int) -> None:
        """Have so many instances, connected and subscribed."""
        self.fleet.command(instances=instances)
        self.fleet.answer()

    def grow(self, instances: int) -> None:
        """Have so many instances that have pushed everything that kproxy keeps of them."""
        self.join(instances)
        self.push(_WARM_UP * instances / _GENTLY, _GENTLY, instances)

    def push(self, seconds: float, rate: float, instances: int) -> tuple[float, float]:
        """Push until all is delivered; return the pushes and their CPU seconds. Raises BenchError when any was not."""
        before, cpu = self.counts(), family_cpu_seconds(self.pid)
        self.fleet.command(seconds=seconds, interval=instances / rate)
        pushed = round(self.fleet.answer()["pushed"])
        # A question costs a thousandth of what it measures.
        self.delivered(before, pushed, every=0.5)
        return pushed, family_cpu_seconds(self.pid) - cpu

    @contextmanager
    def pushing(self, seconds: float, interval: float) -> Iterator[None]:
        """Push meanwhile; raises BenchError at the end when not all was delivered."""
        before = self.counts()
        self.fleet.command(seconds=seconds, interval=interval)
        yield
        self.delivered(before, round(self.fleet.answer()["pushed"]), every=0.02)

    def delivered(self, before: Counter[str], pushed: int, every: float) -> None:
        """Wait until its receiver has delivered so many more; raises BenchError when any was dropped."""

        def all_delivered() -> bool:
            found = self.counts()
            if found["dropped"] or found["offered"] > before["offered"] + pushed:
                raise BenchError(f"{self.name}: {pushed} were pushed, and it has {dict(found)} after {dict(before)}")
            return found["delivered"] == before["delivered"] + pushed

        wait_until(all_delivered, f"{self.name} delivers {pushed} pushes", _PATIENCE, every)

    def counts(self) -> Counter[str]:
        """Return the pushes to its receiver, by outcome."""
        found: Counter[str] = Counter()
        for name, value in _COUNTED.findall(self.page("/metrics")):
            found[name] += round(float(value))
        return found

    def own_part(self) -> OwnPart:
        """Return kproxy's share of all Produce responses so far."""
        within: Counter[str] = Counter()
        total = 0.0
        for kind, bound, value in _OWN_PART.findall(self.page("/metrics")):
            if kind == "sum":
                total += float(value)
            else:
                within[bound] += round(float(value))
        return OwnPart(within, total)

    def url(self, path: str) -> str:
        """Return the URL of a page of its admin port."""
        return f"http://{self.admin[0]}:{self.admin[1]}{path}"

    def page(self, path: str) -> str:
        """Return a page of its admin port."""
        connection = http.client.HTTPConnection(*self.admin, timeout=30)
        connection.request("GET", path)
        page = connection.getresponse().read().decode()
        connection.close()
        return page


@contextmanager
def proxy(
    program: Path, bootstrap: str, directory: Path, receiver: Mapping[str, str], name: str | None = None
) -> Iterator[Proxy]:
    """Yield a kproxy before its fleet is connected; its name is its receiver's type unless another is given."""
    name = name or receiver["type"]
    listen, admin = (HOST, free_ports(8)[0]), (HOST, free_port())
    path, log = directory / f"{name}.yaml", directory / f"{name}.log"
    path.write_text(yaml.safe_dump(_config(bootstrap, listen, admin, {"name": name, **receiver})))
    with running([str(program), "serve", "--config", str(path)], log) as process:
        wait_serving(process, lambda: ready(admin), name, log)
        with closing(Helper(f"fleet of {name}", "tests.bench.fleet", listen[0], str(listen[1]))) as fleet:
            idle = settled_rss_kib(process.pid)
            yield Proxy(name, process.pid, listen, admin, fleet, idle)


def _config(bootstrap: str, listen: Address, admin: Address, receiver: Mapping[str, str]) -> dict[str, Any]:
    everything = {"interval": INTERVAL, "subscriptions": [{"name": "everything", "metrics": "*"}]}
    cluster = {"name": "bench", "bootstrap_servers": bootstrap, "listen": f"{listen[0]}:{listen[1]}"}
    return {
        "admin": f"{admin[0]}:{admin[1]}",
        "clusters": [{**cluster, "telemetry": everything}],
        "receivers": [dict(receiver)],
    }
