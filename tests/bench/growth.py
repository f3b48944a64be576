"""How much a 99th percentile grows from one mode to another, and the bounds within which it lies. Pure."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

_DRAWS: Final = 1000
_TAIL: Final = 0.01
_OF_TEN: Final = (0.05, 0.95)


class Spread(NamedTuple):
    """A figure and its bounds: nine of ten draws of as many cycles, from those that were measured, lie between them."""

    figure: float
    low: float
    high: float


class Pool:
    """The samples of one mode, a block for each cycle: finds the p99 of any number of its blocks after sorting once."""

    def __init__(self, blocks: Sequence[Sequence[float]]) -> None:
        self._sizes = [len(block) for block in blocks]
        largest = ((sample, number) for number, block in enumerate(blocks) for sample in block)
        self._largest = sorted(largest, reverse=True)

    def p99(self, weights: Sequence[int]) -> float:
        """Return the value that one sample of a hundred exceeds, in a pool that has each block so many times."""
        above = _TAIL * sum(size * weight for size, weight in zip(self._sizes, weights, strict=True))
        for sample, number in self._largest:
            above -= weights[number]
            if above < 0:
                return sample
        raise ValueError("no samples")


class Growth:
    """Modes that took turns: `blocks` are the samples by mode, one block of each mode in each cycle."""

    def __init__(self, blocks: Mapping[str, Sequence[Sequence[float]]]) -> None:
        (self._cycles,) = {len(one) for one in blocks.values()}
        self._pools = {mode: Pool(one) for mode, one in blocks.items()}
        rand = random.Random(1)
        self._draws = [self._draw(rand) for _ in range(_DRAWS)]

    def _draw(self, rand: random.Random) -> list[int]:
        """Return how often each cycle is drawn: whole cycles, as what disturbs the machine hits all modes of one."""
        drawn = rand.choices(range(self._cycles), k=self._cycles)
        return [drawn.count(cycle) for cycle in range(self._cycles)]

    def p99(self, mode: str) -> Spread:
        """Return the p99 of all samples of a mode."""
        pool = self._pools[mode]
        return self._spread(pool.p99)

    def percent(self, mode: str, over: str) -> Spread:
        """Return by how many percent the mode's p99 is above another's."""
        pool, base = self._pools[mode], self._pools[over]
        return self._spread(lambda weights: (pool.p99(weights) / base.p99(weights) - 1) * 100)

    def _spread(self, figure: Callable[[Sequence[int]], float]) -> Spread:
        drawn = sorted(map(figure, self._draws))
        low, high = (drawn[round(share * (_DRAWS - 1))] for share in _OF_TEN)
        return Spread(figure([1] * self._cycles), low, high)
