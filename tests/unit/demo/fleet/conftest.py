"""One day for all tests: it takes a few seconds to make."""

from __future__ import annotations

import pytest

from kproxy.demo.fleet.day import Day, day

EPOCH = 1_790_035_200.0
"""2026-09-22."""


def made(seed: int = 5) -> Day:
    """A day with few data points."""
    return day(seed, "shop", EPOCH, 80, interval=3600.0, looks=3600.0)


@pytest.fixture(scope="session")
def of_5() -> Day:
    """The day of seed 5."""
    return made()
