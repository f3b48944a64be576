"""What judges replicas under random schedules: it finds what must not be, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.kept_orders import Kept
from tests.support.observed import Reach, Sample, strays, switches

KEPT = {"east": [Kept(0.0, (1, "a"), "east")], "west": [Kept(0.0, (1, "a"), "east"), Kept(10.0, (2, "b"), "west")]}
BOTH: Reach = {"east": (0,), "west": (0,)}


def seen(upstream: str, until: float, *, ready: bool = True, reach: Reach = BOTH, **known: Any) -> list[Sample]:
    """Return what is seen each second up to a moment."""
    order, ordered = known.get("order", (1, "a")), known.get("ordered", "east")
    return [Sample(float(at), ready, upstream, order, ordered, reach) for at in range(int(until) + 1)]


@pytest.mark.parametrize(
    ("samples", "found"),
    [
        (seen("east", 15), 0),
        (seen("east", 16), 1),
        (seen("east", 16, ready=False), 0),
        (seen("west", 20, order=(2, "b"), ordered="west"), 0),
        (seen("east", 30, reach={"east": (0,)}), 0),
        (seen("east", 14) + seen("east", 30, reach={"east": (0,), "west": (1,)})[15:20], 0),
        (seen("east", 14) + seen("east", 30, reach={"east": (1,), "west": (0,)})[15:20], 1),
        (seen("east", 8, order=(2, "b"), ordered="west", reach={"east": (0,)}), 1),
    ],
    ids=["in time", "late", "not ready", "there", "cut off", "cut off for a while", "cut elsewhere", "against its own"],
)
def test_one_that_strays(samples: list[Sample], found: int) -> None:
    """It was ready for longer than 5 s elsewhere than a place has it, which it could reach all that time."""
    assert len(list(strays(samples, KEPT))) == found


def line(event: str, upstream: str) -> str:
    """Return a line of the log."""
    return json.dumps({"event": event, "upstream": upstream, "cause": "failover"})


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["order west", "moved west", "order east", "moved east"], []),
        (["order west", "order east", "moved east"], []),
        (["order west", "moved west", "moved west"], ["moved without a new order"]),
        (["moved west"], ["moved without a new order"]),
        (["order east", "moved west"], ["moved to elsewhere"]),
    ],
)
def test_moves_without_an_order(lines: list[str], found: list[str], tmp_path: Path) -> None:
    """Each switch needs an order of its own, and goes where that leads."""
    log, events = tmp_path / "log", {"order": "order", "moved": "clients rebootstrap"}
    told = [line(events[what], upstream) for what, upstream in map(str.split, lines)]
    log.write_text("\n".join(["not JSON", *told]))
    assert [one.partition(":")[0] for one in switches(log)] == found
