"""Replicas that agree over two real Kafkas, what a test does to them, and what must be so once it lets them rest."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from tests.support.backend import Backend
from tests.support.kept_orders import KeptOrders, Rank
from tests.support.observed import Observer, Reach, Sample, strays, switches
from tests.support.replica import NO_ANSWER, Replica
from tests.support.violation import check_behind, check_log
from tests.support.wait import until

REST_SECONDS: Final = 15.0


class Given(NamedTuple):
    """An order that was given at a replica, and the answer."""

    replica: str
    to: str
    status: int
    said: Any
    asked: float
    answered: float
    of: str
    """What the process calls itself in orders, where it answered."""


class Agreeing:
    """Three replicas. `orders` are what was answered to orders, `kept` what each place has by now."""

    def __init__(self, directory: Path, backends: Mapping[str, Backend], topic: str, **failover: Any) -> None:
        """`backends` are by upstream; their topics are made here, so that they bear the broker's time."""
        self.topic = topic
        for backend in backends.values():
            backend.topic(1, name=topic, cleanup_policy="compact", message_timestamp_type="LogAppendTime")
        self.backends = backends
        servers = {name: backend.cluster.bootstrap for name, backend in backends.items()}
        self.replicas = [Replica(directory / f"replica-{number}", servers, topic, **failover) for number in range(3)]
        self.kept = {name: KeptOrders(backend, topic) for name, backend in backends.items()}
        self.orders: list[Future[Given]] = []
        self.paused: set[str] = set()
        self._pauses = dict.fromkeys(backends, 0)
        self._pool = ThreadPoolExecutor(8, "orders")
        self._observers: list[Observer] = []

    def reach(self, replica: Replica) -> Reach:
        """The places that it can reach now."""
        return {
            name: (link.cuts, self._pauses[name])
            for name, link in replica.links.items()
            if not link.is_cut and name not in self.paused
        }

    def order(self, replica: Replica, to: str) -> None:
        """Have it fail over, without waiting for its answer."""
        self.orders.append(self._pool.submit(_given, replica, to))

    def samples(self, replica: Replica) -> list[Sample]:
        """What was seen of it since `faults` were looked for."""
        return self._observers[self.replicas.index(replica)].samples

    def active_at(self, replica: Replica) -> str:
        """The upstream that was last seen to be active there; empty while it does not answer."""
        samples = self.samples(replica)
        return samples[-1].upstream if samples else ""

    def pause(self, name: str) -> None:
        """Stop a broker's process."""
        self.paused.add(name)
        self._pauses[name] += 1
        self.backends[name].cluster.brokers[1].pause()

    def resume(self) -> None:
        """Let all brokers go on."""
        for name in self.paused:
            self.backends[name].cluster.brokers[1].resume()
        self.paused.clear()

    def restart(self, replica: Replica, *, forget: bool = False) -> None:
        """SIGKILL and start, without waiting; with nothing that it knew, if it is to `forget`."""
        replica.kill()
        if forget:
            replica.forget()
        replica.launch()

    def until_at(self, upstream: str) -> None:
        """Wait until this upstream is active everywhere, by the newest order."""
        for replica in self.replicas:
            replica.until_at(upstream)

    def rest(self) -> None:
        """Heal everything, and wait until all agree."""
        self.resume()
        for replica in self.replicas:
            replica.heal()
        until(lambda: all(order.done() for order in self.orders), "answers to all orders", 30)
        until(self._agree, "agreement", REST_SECONDS, 0.1)
        for one in self.kept.values():
            one.read()

    def faults(self) -> Iterator[str]:
        """Yield what must not have been, since the last time; Violation for a traceback in a log. They rest."""
        kept = {name: one.found for name, one in self.kept.items()}
        for replica, observer in zip(self.replicas, self._observers, strict=True):
            samples = list(observer.samples)
            del observer.samples[: len(samples)]
            for log in replica.logs:
                check_log(log)
                yield from (f"{log}: {fault}" for fault in switches(log))
            yield from (f"{replica.directory.name}: {fault}" for fault in strays(samples, kept))
        yield from self._lost()
        self.orders.clear()

    def _lost(self) -> Iterator[str]:
        """Yield orders that were acknowledged and are lost, or never counted where they were written."""
        agreed = self.agreed()
        for given in (order.result() for order in self.orders):
            if given.status != 200:
                continue
            own = [one for one in self.kept[given.to].found if one.rank[1] == given.of and one.at >= given.asked - 0.1]
            # The highest: one that was asked for just before, and refused, may have been written meanwhile.
            written = [one for one in own if one.at <= given.answered and one.upstream == given.to]
            at = max(written, key=lambda one: one.rank, default=None)
            if at is None:
                yield f"not in the topic: {given}; there are {own}"
            elif agreed is None or agreed < at.rank:
                yield f"lost: {given} with {at}; agreed on {agreed}"
            elif any(one.rank > at.rank for one in self.kept[given.to].found if one.at < at.at):
                yield f"acknowledged, and it never counted: {given} with {at}"

    def agreed(self) -> Rank | None:
        """The order that the first replica knows."""
        agreed = self.replicas[0].shown()["agreement"]
        return None if agreed["order"] is None else (agreed["order"], agreed["replica"])

    def _agree(self) -> bool:
        try:
            shown = [replica.shown() for replica in self.replicas]
            ready = all(replica.strict()[0] for replica in self.replicas)
        except NO_ANSWER:
            return False
        keys = ("order", "upstream", "replica")
        found = {(one["upstream"], *(one["agreement"][key] for key in keys)) for one in shown}
        pending = any(one["agreement"]["pending"] for one in shown)
        copied = all(
            place["readable"] and place["order"] == one["agreement"]["order"]
            for one in shown
            for place in one["agreement"]["places"]
        )
        return ready and not pending and copied and len(found) == 1

    def __enter__(self) -> Self:
        try:
            for replica in self.replicas:
                replica.launch()
            for replica in self.replicas:
                replica.until_live()
        except BaseException:
            self._close()
            raise
        self._observers = [Observer(one, lambda one=one: self.reach(one)) for one in self.replicas]  # type: ignore[misc]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        check_behind(error, self._look)

    def _look(self) -> None:
        for log in (log for replica in self.replicas for log in replica.logs):
            check_log(log)

    def _close(self) -> None:
        self.resume()
        for observer in self._observers:
            observer.close()
        for replica in self.replicas:
            replica.close()
        self._pool.shutdown()
        for one in self.kept.values():
            one.close()


def _given(replica: Replica, to: str) -> Given:
    asked = time.time()
    of = ""
    try:
        of = replica.shown()["agreement"]["this_replica"]
        status, said = replica.order(to)
    except NO_ANSWER as error:
        status, said = 0, str(error)
    return Given(replica.directory.name, to, status, said, asked, time.time(), of)
