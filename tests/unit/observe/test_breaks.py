"""kproxy.observe.breaks: when a thread that writes a page sleeps."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import pytest

from kproxy.observe import breaks


def test_a_thread_takes_breaks_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of 1,000 pieces of 0.04 ms: a break of 0.1 ms after 0.08 ms of work, until their 6 ms are over."""
    now, begun = 0.0, list[float]()

    def sleep(seconds: float) -> None:
        nonlocal now
        begun.append(now)
        now += seconds

    monkeypatch.setattr(breaks, "time", SimpleNamespace(perf_counter=lambda: now, sleep=sleep))
    monkeypatch.setattr(breaks, "_BREAKS", 0.0059)
    taken = breaks.Breaks()
    for _ in range(1_000):
        now += 0.00004
        taken.take()
    assert len(begun) == 60
    apart = [later - earlier for earlier, later in pairwise([-0.0001, *begun])]
    assert apart == pytest.approx([0.00018] * 60)
    assert now == pytest.approx(0.046)
