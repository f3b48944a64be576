"""How the growth of a p99 is computed: from pooled samples, with whole cycles drawn again."""

from __future__ import annotations

import random
import statistics

import pytest

from .growth import Growth, Pool


def samples(seed: int, mean: float, count: int = 400) -> list[float]:
    rand = random.Random(seed)
    return [rand.expovariate(1 / mean) for _ in range(count)]


def test_the_p99_of_a_pool_is_that_of_all_its_samples() -> None:
    """It is the standard library's, within the distance between two samples."""
    blocks = [samples(seed, 1.0) for seed in range(10)]
    whole = sorted(sample for block in blocks for sample in block)
    found = Pool(blocks).p99([1] * 10)
    assert found in whole
    assert abs(whole.index(found) - 0.99 * len(whole)) <= 1
    assert found == pytest.approx(statistics.quantiles(whole, n=100)[98], rel=0.02)


def test_a_block_counts_as_often_as_it_was_drawn() -> None:
    """It counts as if its samples were there so many times; not at all if never."""
    first, second = samples(1, 1.0), samples(2, 5.0)
    assert Pool([first, second]).p99([2, 0]) == Pool([first]).p99([1])
    assert Pool([first, second]).p99([3, 1]) == Pool([first, first, first, second]).p99([1, 1, 1, 1])


def test_an_empty_pool_has_no_p99() -> None:
    """The error says so."""
    with pytest.raises(ValueError, match="no samples"):
        Pool([[]]).p99([1])


def test_growth_is_over_the_other_mode_of_the_same_cycles() -> None:
    """A machine that gets three times as slow in between changes nothing if it does so for both modes."""
    slow = [1.0 if cycle < 5 else 3.0 for cycle in range(10)]
    base = [[sample * times for sample in samples(cycle, 1.0)] for cycle, times in enumerate(slow)]
    grown = [[sample * 1.5 for sample in block] for block in base]
    figure, low, high = Growth({"base": base, "grown": grown}).percent("grown", "base")
    assert figure == pytest.approx(50)
    assert (low, high) == pytest.approx((50, 50))


def test_the_spread_shows_how_little_is_known() -> None:
    """One bad block of ten may be missing from another draw, which widens the bounds; many alike blocks do not."""
    even = [samples(cycle, 1.0) for cycle in range(10)]
    one_bad = [*even[:9], samples(99, 20.0)]
    growth = Growth({"even": even, "bad": one_bad})
    figure, low, high = growth.percent("bad", "even")
    assert low < 30
    assert 100 < figure < high
    figure, low, high = growth.p99("even")
    assert low < figure < high < 1.3 * low


def test_every_mode_has_a_block_in_each_cycle() -> None:
    """Anything else is a mistake of the caller."""
    with pytest.raises(ValueError, match="unpack"):
        Growth({"base": [[1.0]], "grown": [[1.0], [1.0]]})
