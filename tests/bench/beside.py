"""Measure what pushes do to the latency of requests beside them: modes take turns, each for a second or two."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Final

from . import small
from .frames import OneRecordProduce, connect
from .helper import Helper
from .process import Address
from .pushed import OwnPart, Proxy

RATES: Final = (7, 200, 2_000)
"""Pushes a second: 2,000 instances at Kafka's default of 5 minutes, at 10 s, at 1 s."""
NONE: Final = "none"
COMPARED: Final = RATES[2:]
"""Rates that are also pushed to another kproxy: lower ones take too little of the machine."""
BLOCK: Final = 1.5
"""Seconds of a block: a slow drift of the machine hits all modes alike, and a mode's after-effects count little."""
SCRAPED_EVERY: Final = 10
"""Blocks of a mode between two scrapes: every 15 seconds of the mode's own time."""
_WARM_UP: Final = 30.0
"""Seconds of requests before the first block, in which the brokers compile what they run. Each instance pushes twice:
kproxy has forgotten one that has not pushed for a minute, and to take it in anew costs four pushes.
"""


@dataclass(frozen=True, slots=True)
class Mode:
    """`rate` pushes a second to the kproxy `pushed`, and scrapes of its clients' page; None: no pushes."""

    name: str
    pushed: Proxy | None = None
    rate: float = 0


@dataclass(slots=True)
class Found:
    """The results of one mode: each request's seconds, by block; kproxy's own part of them; the scrapes' seconds."""

    blocks: list[list[float]] = field(default_factory=list)
    own_part: OwnPart = field(default_factory=lambda: OwnPart(Counter(), 0.0))
    scrapes: list[float] = field(default_factory=list)


def modes(relay: Proxy, other: Proxy) -> list[Mode]:
    """Return modes that push to the relaying kproxy, and as much to another one, which only shares its machine."""
    own = [Mode(f"{rate}", relay, rate) for rate in RATES]
    return [Mode(NONE), *own, *(Mode(to_other(rate), other, rate) for rate in COMPARED)]


def to_other(rate: int) -> str:
    """Return the name of the mode that pushes to the other kproxy."""
    return f"{rate}_other"


class Beside:
    """Sends requests through `relay`, one after the other on one connection, while instances push or do not."""

    def __init__(
        self, relay: Proxy, taking_turns: Sequence[Mode], leader: Address, request: OneRecordProduce, instances: int
    ) -> None:
        self.found = {mode.name: Found() for mode in taking_turns}
        self._relay = relay
        self._modes = taking_turns
        self._request = request
        self._instances = instances
        self._rand = random.Random(1)
        self._connection = connect(leader)
        self._scraper = Helper("scraper", "tests.bench.scrape")

    def warm_up(self) -> None:
        """Send requests and pushes before the first cycle."""
        with ExitStack() as stack:
            for pushed in {mode.pushed for mode in self._modes if mode.pushed is not None}:
                stack.enter_context(pushed.pushing(_WARM_UP, _WARM_UP / 2))
            small.requests_during(self._connection, self._request, _WARM_UP)

    def close(self) -> None:
        """End its connection and its scraper."""
        self._connection.close()
        self._scraper.close()

    def cycle(self) -> None:
        """Run a block of each mode, in another order each time."""
        for mode in self._rand.sample(self._modes, len(self._modes)):
            self._block(mode)

    def _block(self, mode: Mode) -> None:
        found = self.found[mode.name]
        scraped = len(found.blocks) % SCRAPED_EVERY == SCRAPED_EVERY // 2
        before = self._relay.own_part()
        found.blocks.append(self._beside(mode, found.scrapes if scraped else None))
        found.own_part = found.own_part.plus(self._relay.own_part().since(before))

    def _beside(self, mode: Mode, scrapes: list[float] | None) -> list[float]:
        """Run one block; return the seconds of each request. Raises BenchError where a push was not delivered."""
        pushed = mode.pushed
        if pushed is None:
            return small.requests_during(self._connection, self._request, BLOCK)
        with pushed.pushing(BLOCK, self._instances / mode.rate):
            if scrapes is not None:
                self._scraper.command(url=pushed.url("/metrics/clients"), after=BLOCK / 2)
            samples = small.requests_during(self._connection, self._request, BLOCK)
        if scrapes is not None:
            scrapes.append(self._scraper.answer()["seconds"])
        return samples
