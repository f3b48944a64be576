"""kproxy.telemetry.receivers.exposition: in pieces; what is written is shown where it is added up."""

from __future__ import annotations

from kproxy.telemetry.receivers.accumulate import Accumulator
from kproxy.telemetry.receivers.exposition import page, pieces, snapshot
from tests.unit.telemetry.receivers.pushes import client, gauge, metrics, total


def test_pieces_are_short() -> None:
    """A page of 600 series comes in pieces of whole lines, some dozens at most, with steps in between."""
    accumulator = Accumulator()
    for number in range(300):
        list(accumulator.steps(client(number + 1), metrics(total("sent", number), gauge("age", 1.0)), 0.0))
    taken = [snapshot(family) for family in accumulator.families.values()]
    found = list(pieces(taken))
    assert "".join(found) == page(taken)
    assert max(piece.count("\n") for piece in found) <= 40
    assert all(piece.endswith("\n") for piece in found if piece)
    assert found.count("") == 4
    assert "".join(found).count("\n") == 2 * (2 + 300)
