"""Producers that send on command, the same for all of Python's libraries; Java and Go do it alike.

The command line's JSON: `name`, `producers` (how many), `mode` (`idempotent`, `transactional`), `settings` of each.
Each line of standard input is a round: `round`, `topic`, `partition`, `records` (of each producer), and for
transactions `do`: `begin` leaves the transaction open, `commit` ends the open one, without it both are done.
One JSON line answers each: `round`, `acked` (values), `failed` (value -> error), `replaced` (how many dead producers)
and `seconds`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Outcome:
    """What became of a round's records: the errors of those that failed, and how many producers were dead after it."""

    acked: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    replaced: int = 0

    def fail(self, values: Iterable[str], error: str) -> None:
        """Note that all of these failed, for one reason."""
        self.failed |= dict.fromkeys(values, error)


@dataclass(frozen=True)
class Start:
    """The producers that the command line asks for."""

    name: str
    producers: int
    settings: dict[str, Any]
    mode: str = "idempotent"

    @classmethod
    def spoken(cls) -> Start:
        """Parse the command line."""
        return cls(**json.loads(sys.argv[1]))

    def own(self, number: int) -> dict[str, Any]:
        """Return the settings of one producer by Kafka's names; its name is its transactional id."""
        name = f"{self.name}-{number}"
        transactional = {"transactional.id": name} if self.mode == "transactional" else {}
        return {**self.settings, **transactional, "client.id": name}


@dataclass(frozen=True)
class Order:
    """A round of one producer, with its own values."""

    topic: str
    partition: int
    values: list[str]
    only: str

    @classmethod
    def of(cls, said: dict[str, Any], name: str) -> Order:
        """Return the round of the producer `name`."""
        values = [f"{name}-{said['round']}-{number}" for number in range(said["records"])]
        return cls(said["topic"], said["partition"], values, said.get("do", ""))


def run(sender: Callable[[dict[str, Any]], Callable[[Order], Outcome]]) -> None:
    """Make a sender for each producer from its settings, and let all of them do each round at once, in threads."""
    start = Start.spoken()
    senders = [(f"{start.name}-{number}", sender(start.own(number))) for number in range(start.producers)]
    with ThreadPoolExecutor(start.producers) as threads:
        for line in sys.stdin:
            said, begun = json.loads(line), time.monotonic()
            running = [threads.submit(obey, Order.of(said, name)) for name, obey in senders]
            answer(said, [one.result() for one in running], time.monotonic() - begun)


def answer(said: dict[str, Any], outcomes: list[Outcome], seconds: float) -> None:
    """Print what became of a round."""
    line = {
        "round": said["round"],
        "acked": [value for one in outcomes for value in one.acked],
        "failed": {value: error for one in outcomes for value, error in one.failed.items()},
        "replaced": sum(one.replaced for one in outcomes),
        "seconds": round(seconds, 3),
    }
    sys.stdout.write(f"{json.dumps(line)}\n")  # in one piece: the library's own log goes to the same file
    sys.stdout.flush()


def named(error: Exception) -> str:
    """Return an error's class and its text, which may name the class itself."""
    name = type(error).__name__
    return f"{name}: {str(error).removeprefix(f'{name}: ')}"
