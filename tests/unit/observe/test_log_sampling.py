"""kproxy.observe.log_sampling: what is written in a storm, what is summed, and what it may cost."""

from __future__ import annotations

import sys
from collections import Counter

from kproxy.observe.log_sampling import (
    BURST,
    MAX_HOSTS,
    MAX_KINDS,
    OTHERS,
    PER_SECOND,
    SUM_SECONDS,
    Kind,
    Sampling,
)

ENDED = Kind("connection ended", "main", "connect_failed")


def written(sampling: Sampling, lines: int, now: float, kind: Kind = ENDED, host: str = "10.0.0.1") -> int:
    """Return how many of as many lines are written."""
    return sum(sampling.admits(kind, now, host=host) for _ in range(lines))


def test_a_burst_then_a_few_a_second() -> None:
    """1,784 lines in a moment give a burst; ten seconds later as many as those seconds allow; then the burst again."""
    sampling = Sampling()
    assert written(sampling, 1784, 0.0) == BURST
    assert written(sampling, 1784, 10.0) == 10 * PER_SECOND
    assert written(sampling, 1784, 10.0 + BURST / PER_SECOND) == BURST


def test_a_storm_is_bounded_however_long_it_lasts() -> None:
    """An hour of 100 lines a second writes the burst and the rate, no more."""
    sampling = Sampling()
    lines = sum(written(sampling, 1, second / 100) for second in range(360_000))
    assert BURST + 3600 * PER_SECOND - 1 <= lines <= BURST + 3600 * PER_SECOND


def test_kinds_do_not_crowd_out_each_other() -> None:
    """A storm of one reason leaves the lines of others, and of other clusters, as they are."""
    sampling = Sampling()
    written(sampling, 10_000, 0.0)
    assert written(sampling, 3, 0.0, ENDED._replace(reason="internal_error")) == 3
    assert written(sampling, 3, 0.0, ENDED._replace(cluster="other")) == 3
    assert written(sampling, 3, 0.0, Kind("cannot accept")) == 3


def test_sums_count_every_line_that_is_left_out() -> None:
    """A sum is due five seconds after its first line: all lines since, the highest level, the top three hosts."""
    sampling = Sampling()
    assert sampling.due() is None
    written(sampling, BURST, 5.0)
    assert (sampling.due(), sampling.waiting) == (None, 0)
    for host, lines in (("a", 7), ("b", 50), ("c", 3), ("d", 20)):
        assert written(sampling, lines, 5.0, host=host) == 0
    sampling.admits(ENDED, 5.0, level=40)
    assert (sampling.due(), sampling.waiting) == (5.0 + SUM_SECONDS, 1)
    assert sampling.sums(5.0 + SUM_SECONDS - 0.1) == []
    (found,) = sampling.sums(5.0 + SUM_SECONDS)
    assert found == (ENDED, 81, SUM_SECONDS, {"b": 50, "d": 20, "a": 7}, 40)
    assert (sampling.sums(100.0, early=True), sampling.due(), sampling.waiting) == ([], None, 0)


def test_early_sums() -> None:
    """At the end nothing waits for its time."""
    sampling = Sampling()
    written(sampling, BURST + 4, 0.0)
    (found,) = sampling.sums(0.25, early=True)
    assert (found.lines, found.seconds) == (4, 0.2)


def test_a_clock_that_goes_back() -> None:
    """It takes no lines away, and gives none."""
    sampling = Sampling()
    assert written(sampling, 10, 50.0) == 10
    assert written(sampling, 1000, 20.0) == BURST - 10


def test_frequent_hosts_are_found_among_many() -> None:
    """A host with a tenth of the lines is named, among 20,000 others; memory stays as it is."""
    sampling = Sampling()
    written(sampling, BURST, 0.0)
    for number in range(20_000):
        sampling.admits(ENDED, 0.0, host=f"10.{number >> 8}.{number & 255}.1")
        if number % 9 == 0:
            sampling.admits(ENDED, 0.0, host="192.0.2.66")
    (bucket,) = sampling._buckets.values()
    assert len(bucket.hosts) <= MAX_HOSTS
    (found,) = sampling.sums(SUM_SECONDS)
    assert next(iter(found.hosts)) == "192.0.2.66"
    assert 20_000 / 9 * (1 - 1 / 3) <= found.hosts["192.0.2.66"] <= 20_000 / 9 + 1
    assert found.lines == 20_000 + 2223


def test_kinds_are_bounded() -> None:
    """Kinds beyond the bound share one bucket; those that are quiet again make room."""
    sampling = Sampling()
    kinds = [Kind(f"event {number}") for number in range(MAX_KINDS + 50)]
    admitted = Counter(sampling.admits(kind, 0.0) for kind in kinds for _ in range(BURST + 1))
    assert admitted[True] == (MAX_KINDS + 1) * BURST
    assert len(sampling._buckets) == MAX_KINDS + 1
    shared = next(found for found in sampling.sums(0.0, early=True) if found.kind == OTHERS)
    assert shared.lines == 50 * (BURST + 1) - BURST
    assert sampling.admits(Kind("later"), 1000.0)
    assert len(sampling._buckets) == 1
    assert sys.getsizeof(sampling._buckets) < 10_000


def test_what_waits_for_its_sum_is_not_forgotten() -> None:
    """A bucket that is full again stays, while lines of its kind are in no sum."""
    sampling = Sampling()
    written(sampling, BURST + 7, 0.0)
    for number in range(MAX_KINDS + 1):
        sampling.admits(Kind(f"event {number}"), 1000.0)
    assert next(found for found in sampling.sums(2000.0) if found.kind == ENDED).lines == 7
