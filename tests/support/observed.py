"""What a replica says of itself, several times a second, and what it must never have said.

`Observer` records; `strays` and `switches` judge, from what the topics and the logs have.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.support.kept_orders import Kept, Rank
from tests.support.replica import NO_ANSWER, Replica

EVERY: Final = 0.15
STRAY_SECONDS: Final = 5.0
Reach = Mapping[str, tuple[int, ...]]
"""The places that can be reached; the numbers of a place differ once it could not be reached in between."""


class Sample(NamedTuple):
    """What a replica said at a moment. `order` is the newest that it knows, `ordered` where that one leads."""

    at: float
    ready: bool
    upstream: str
    order: Rank | None
    ordered: str | None
    reach: Reach


class Observer:
    """Asks one replica until it is closed, also while it does not run; `samples` are its answers."""

    def __init__(self, replica: Replica, reach: Callable[[], Reach]) -> None:
        self.samples: list[Sample] = []
        self._replica, self._reach = replica, reach
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="observer", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End it."""
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._done.wait(EVERY):
            at, reach = time.time(), self._reach()
            try:
                self.samples.append(self._sample(at, reach))
            except NO_ANSWER:
                self.samples.append(Sample(at, False, "", None, None, reach))

    def _sample(self, at: float, reach: Reach) -> Sample:
        ready, _ = self._replica.strict()
        shown = self._replica.shown()
        agreed = shown["agreement"]
        rank = None if agreed["order"] is None else (agreed["order"], agreed["replica"])
        return Sample(at, ready, shown["upstream"], rank, agreed["upstream"], reach)


def strays(samples: Iterable[Sample], kept: Mapping[str, Sequence[Kept]]) -> Iterator[str]:
    """Yield each time that a replica was ready too long at another upstream than a place that it could reach had it."""
    begun: dict[tuple[str, tuple[int, ...]], float] = {}
    told: dict[tuple[str, tuple[int, ...]], float] = {}
    for sample in samples:
        wrong = {place: sample.reach[place] for place in _contradicting(sample, kept)}
        begun = {key: begun.get(key, sample.at) for key in wrong.items()}
        for key, since in begun.items():
            if sample.at - since > STRAY_SECONDS and told.get(key) != since:
                told[key] = since
                yield f"for more than {sample.at - since:.1f} s, against {key[0]}: {sample}"


def _contradicting(sample: Sample, kept: Mapping[str, Sequence[Kept]]) -> Iterator[str]:
    """Yield the places whose orders, with the one that the replica knows, lead elsewhere than where it is, ready."""
    if not sample.ready:
        return
    for place in sample.reach:
        counting = [(one.rank, one.upstream) for one in kept[place] if one.at <= sample.at]
        if sample.order is not None and sample.ordered is not None:
            counting.append((sample.order, sample.ordered))
        if counting and max(counting)[1] != sample.upstream:
            yield place


def switches(log: Path) -> Iterator[str]:
    """Yield what a process' log has of switches without an order of their own, or to elsewhere than ordered."""
    newest: dict[str, Any] | None = None
    for line in _lines(log):
        if line["event"] == "order":
            newest = line
        elif line["event"] == "clients rebootstrap" and line["cause"] == "failover":
            if newest is None:
                yield f"moved without a new order: {line}"
            elif newest["upstream"] != line["upstream"]:
                yield f"moved to elsewhere: {line} for {newest}"
            newest = None


def _lines(log: Path) -> Iterator[dict[str, Any]]:
    for line in log.read_text(errors="replace").splitlines():
        if line.startswith("{") and line.endswith("}"):
            yield json.loads(line)
