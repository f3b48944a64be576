"""kproxy.observe.log_sampling: what is written in a storm, what is summed, and what it may cost."""

from __future__ import annotations

import math
import sys
from collections import Counter

import pytest

from kproxy.observe.log_sampling import (
    BURST,
    FAULT_SECONDS,
    MAX_DETAIL,
    MAX_HOSTS,
    MAX_KINDS,
    OTHERS,
    PER_SECOND,
    SUM_SECONDS,
    Burst,
    FirstOnly,
    Kind,
    Sampling,
)

ENDED = Kind("connection ended", "main", "connect_failed")
AT_7 = ENDED._replace(node=7)


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
    assert sampling.due() == math.inf
    written(sampling, BURST, 5.0)
    assert (sampling.due(), sampling.waiting) == (math.inf, 0)
    for host, lines in (("a", 7), ("b", 50), ("c", 3), ("d", 20)):
        assert written(sampling, lines, 5.0, host=host) == 0
    sampling.admits(ENDED, 5.0, level=40, detail="the newest")
    assert (sampling.due(), sampling.waiting) == (5.0 + SUM_SECONDS, 1)
    assert sampling.sums(5.0 + SUM_SECONDS - 0.1) == []
    (found,) = sampling.sums(5.0 + SUM_SECONDS)
    assert found == (ENDED, 81, SUM_SECONDS, {"b": 50, "d": 20, "a": 7}, 40, "the newest")
    assert (sampling.sums(100.0, early=True), sampling.due(), sampling.waiting) == ([], math.inf, 0)


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


@pytest.mark.parametrize(("rule", "at_once"), [(Burst, BURST), (FirstOnly, 1)])
def test_kinds_are_bounded(rule: type[Burst | FirstOnly], at_once: int) -> None:
    """Kinds beyond the bound share one bucket; those that are quiet again make room."""
    sampling = Sampling(rule)
    kinds = [Kind(f"event {number}") for number in range(MAX_KINDS + 50)]
    admitted = Counter(sampling.admits(kind, 0.0) for kind in kinds for _ in range(at_once + 1))
    assert admitted[True] == (MAX_KINDS + 1) * at_once
    assert len(sampling._buckets) == MAX_KINDS + 1
    shared = next(found for found in sampling.sums(0.0, early=True) if found.kind == OTHERS)
    assert shared.lines == 50 * (at_once + 1) - at_once
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


def test_the_first_fault_and_a_sum_each_ten_seconds() -> None:
    """A dead broker and 8 clients, 357 connections a second for a minute: one line, then six sums with all others."""
    sampling = Sampling(FirstOnly)
    lines, sums = 0, []
    for number in range(60 * 357):
        now = number / 357
        lines += written(sampling, 1, now, AT_7)
        sums += sampling.sums(now)
    sums += sampling.sums(60.0)
    assert lines == 1
    assert [(one.kind, one.seconds) for one in sums] == [(AT_7, FAULT_SECONDS)] * 6
    assert sum(one.lines for one in sums) == 60 * 357 - 1


def test_faults_are_summed_by_node_reason_and_virtual_cluster() -> None:
    """The first of each is written, however many there are of another."""
    sampling = Sampling(FirstOnly)
    others = [AT_7._replace(node="bootstrap"), AT_7._replace(reason="tls_failed"), AT_7._replace(cluster="other")]
    assert [written(sampling, 100, 0.0, kind) for kind in (AT_7, *others)] == [1] * 4
    assert {one.kind: one.lines for one in sampling.sums(FAULT_SECONDS)} == dict.fromkeys((AT_7, *others), 99)


def test_a_fault_after_quiet_ones() -> None:
    """The next line is written at once when none came for ten seconds: after a line, or after a sum."""
    sampling = Sampling(FirstOnly)
    assert written(sampling, 1, 0.0, AT_7) == 1
    assert written(sampling, 1, FAULT_SECONDS, AT_7) == 1
    assert written(sampling, 1, FAULT_SECONDS + 9.9, AT_7) == 0
    assert sampling.due() == 2 * FAULT_SECONDS
    (late,) = sampling.sums(2 * FAULT_SECONDS + 0.5)
    assert (late.lines, late.seconds) == (1, 10.5)
    assert written(sampling, 1, 3 * FAULT_SECONDS, AT_7) == 0
    (early,) = sampling.sums(3 * FAULT_SECONDS, early=True)
    assert (early.lines, early.seconds, sampling.waiting, sampling.due()) == (1, 9.5, 0, math.inf)
    assert written(sampling, 1, 4 * FAULT_SECONDS, AT_7) == 1


def test_a_sum_that_is_late() -> None:
    """No line is taken for a first one while others of its kind wait for their sum."""
    sampling = Sampling(FirstOnly)
    assert written(sampling, 3, 0.0, AT_7) == 1
    assert written(sampling, 2, 25.0, AT_7) == 0
    (found,) = sampling.sums(25.0)
    assert (found.lines, found.seconds) == (4, 25.0)


def test_a_long_detail_is_not_kept() -> None:
    """A sum has the newest detail, unless that is longer than what is kept of any."""
    sampling = Sampling(FirstOnly)
    written(sampling, 1, 0.0, AT_7)
    for detail in ("x" * MAX_DETAIL, "y" * (MAX_DETAIL + 1)):
        sampling.admits(AT_7, 0.0, detail=detail)
        (found,) = sampling.sums(0.0, early=True)
        assert found.detail == (detail if len(detail) == MAX_DETAIL else "")
