"""A random schedule of orders, kills, restarts and partitions between replicas and clusters, from a seed."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Final

from tests.support.agreeing import Agreeing

_MOST_STEPS: Final = 12
_never = threading.Event()


class Schedule:
    """`steps` says what was done."""

    def __init__(self, agreeing: Agreeing, seed: int) -> None:
        self.steps: list[str] = []
        self._agreeing = agreeing
        self._random = random.Random(seed)

    def run(self) -> None:
        """Do it; the last thing may still be under way."""
        weights = {
            self._order: 6,
            self._opposite_orders: 2,
            self._cut: 5,
            self._cut_from_all: 1,
            self._heal: 3,
            self._restart: 2,
            self._restart_without_state: 1,
            self._order_to_a_newcomer: 1,
            self._pause_or_resume: 1,
        }
        for _ in range(self._random.randint(4, _MOST_STEPS)):
            (step,) = self._random.choices(list(weights), list(weights.values()))
            self._do(step)
            _never.wait(self._random.choice([0.0, 0.05, 0.3, 0.3, 1.0, 2.5]))

    def _do(self, step: Callable[[], str]) -> None:
        self.steps.append(f"{step.__name__.strip('_')} {step()}")

    def _replica(self) -> int:
        return self._random.randrange(len(self._agreeing.replicas))

    def _upstream(self) -> str:
        return self._random.choice(list(self._agreeing.backends))

    def _order(self) -> str:
        number = self._replica()
        replica = self._agreeing.replicas[number]
        elsewhere = [name for name in self._agreeing.backends if name != self._agreeing.active_at(replica)]
        to = self._random.choice(elsewhere)
        self._agreeing.order(replica, to)
        return f"{number} {to}"

    def _opposite_orders(self) -> str:
        numbers = self._random.sample(range(len(self._agreeing.replicas)), 2)
        for number, to in zip(numbers, self._agreeing.backends, strict=True):
            self._agreeing.order(self._agreeing.replicas[number], to)
        return str(numbers)

    def _cut(self) -> str:
        number, name = self._replica(), self._upstream()
        self._agreeing.replicas[number].cut(name)
        return f"{number} {name}"

    def _cut_from_all(self) -> str:
        number = self._replica()
        self._agreeing.replicas[number].cut()
        return str(number)

    def _heal(self) -> str:
        number = self._replica()
        self._agreeing.replicas[number].heal()
        return str(number)

    def _restart(self) -> str:
        number = self._replica()
        self._agreeing.restart(self._agreeing.replicas[number])
        return str(number)

    def _restart_without_state(self) -> str:
        number = self._replica()
        self._agreeing.restart(self._agreeing.replicas[number], forget=True)
        return str(number)

    def _order_to_a_newcomer(self) -> str:
        """Have one that knows nothing get an order when it has hardly begun to read."""
        number = self._replica()
        replica = self._agreeing.replicas[number]
        replica.cut()
        self._agreeing.restart(replica, forget=True)
        replica.until_live()
        replica.heal()
        self._agreeing.order(replica, self._upstream())
        return str(number)

    def _pause_or_resume(self) -> str:
        name = self._upstream()
        if self._agreeing.paused:
            self._agreeing.resume()
            return "resume"
        self._agreeing.pause(name)
        return name
