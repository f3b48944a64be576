"""kproxy.telemetry.receivers.exposition: its pieces; the text itself is tested with the accumulator."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

import pytest

from kproxy.telemetry.receivers import exposition
from kproxy.telemetry.receivers.accumulate import Accumulator
from kproxy.telemetry.receivers.exposition import Snapshot, page, pieces, snapshot, taking
from kproxy.telemetry.receivers.labels import DEFAULT_LABELS
from tests.unit.telemetry.receivers.pushes import client, gauge, histogram, metrics, total


def taken(*accumulators: Accumulator) -> list[Snapshot]:
    return [snapshot(family) for each in accumulators for family in each.families.values()]


@pytest.mark.parametrize(("receivers", "most", "steps"), [(1, 256, 0), (2, 40, 8)])
def test_pieces_are_short(receivers: int, most: int, steps: int) -> None:
    """Whole lines, some hundreds at most; fewer, with steps in between, where values may have equal labels."""
    accumulators = [Accumulator(constant={"receiver": f"{receiver}"}) for receiver in range(receivers)]
    for accumulator in accumulators:
        for number in range(300):
            list(accumulator.steps(client(number + 1), metrics(total("sent", number), gauge("age", 1.0)), 0.0))
    snapshots = taken(*accumulators)
    found = list(pieces(snapshots))
    assert "".join(found) == page(snapshots)
    assert max(piece.count("\n") for piece in found) <= most
    assert all(piece.endswith("\n") for piece in found if piece)
    assert found.count("") == steps
    assert "".join(found).count("\n") == 2 * (2 + 300 * receivers)


def numbers() -> Accumulator:
    accumulator = Accumulator()
    for number, value in enumerate((0.0, 1e300, 1e-7, inf, -inf, nan, 3)):
        list(accumulator.steps(client(number), metrics(total("sent", value), gauge("age", value, topic="t")), 0.0))
    return accumulator


def huge() -> Accumulator:
    accumulator = Accumulator()
    for number in range(2):
        list(accumulator.steps(client(number), metrics(gauge("age", 1.7e308)), 0.0))
    return accumulator


def without_labels() -> Accumulator:
    accumulator = Accumulator(labels=("group_id",))
    list(accumulator.steps(client(1), metrics(gauge("age", 1.0), gauge("lag", 2.0, topic="t")), 0.0))
    list(accumulator.steps(client(2), metrics(gauge("age", 3.0), resource={"group_id": "g"}), 0.0))
    return accumulator


def distributions() -> Accumulator:
    accumulator = Accumulator()
    list(accumulator.steps(client(), metrics(histogram("took", [1.0], [1, 2], 4.0), gauge("age", 1.0)), 0.0))
    return accumulator


@pytest.mark.parametrize("made", [numbers, huge, without_labels, distributions])
def test_the_short_way_writes_the_same(made: Callable[[], Accumulator], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no two values have the same labels, values are not merged, and the page is the same."""
    snapshots = taken(made())
    found = page(snapshots)
    assert any(exposition._all_differ([each]) for each in snapshots)
    monkeypatch.setattr(exposition, "_all_differ", lambda _: False)
    assert found == page(snapshots)


def clients_alike() -> list[Accumulator]:
    accumulator = Accumulator(labels=("client_id",))
    for number in range(2):
        list(accumulator.steps(client(number), metrics(total("sent", 1)), 0.0))
    return [accumulator]


def points_alike() -> list[Accumulator]:
    accumulator = Accumulator()
    dotted, underscored = total("sent", 1, a_b="1"), total("sent", 1, a_b="1")
    dotted.sum.data_points[0].attributes[0].key = "a.b"
    list(accumulator.steps(client(), metrics(dotted, underscored), 0.0))
    return [accumulator]


def one_left() -> list[Accumulator]:
    accumulator = Accumulator(labels=("client_id",))
    list(accumulator.steps(client(1), metrics(total("sent", 1)), 0.0))
    list(accumulator.steps(client(2), metrics(total("sent", 0)), 800.0))
    list(accumulator.steps(client(2), metrics(total("sent", 1)), 1000.0))
    assert accumulator.sources == 1
    return [accumulator]


def two_receivers() -> list[Accumulator]:
    accumulators = [Accumulator(labels=DEFAULT_LABELS) for _ in range(2)]
    for accumulator in accumulators:
        list(accumulator.steps(client(), metrics(total("sent", 1)), 0.0))
    return accumulators


@pytest.mark.parametrize("made", [clients_alike, points_alike, one_left, two_receivers])
def test_values_of_the_same_labels_are_one(made: Callable[[], list[Accumulator]]) -> None:
    """Two clients, two points, a departed and a present client, two receivers: Prometheus takes a series once."""
    (line,) = [line for line in page(taken(*made())).splitlines() if not line.startswith("#")]
    assert line.endswith(" 2.0")


@pytest.mark.parametrize(("first", "second", "shown"), [(inf, -inf, "NaN"), (1e308, 1e308, "+Inf"), (0.1, 0.2, "0.3")])
def test_values_that_have_no_sum(first: float, second: float, shown: str) -> None:
    """One client may push them; the page is for all."""
    accumulator = Accumulator()
    dotted, underscored = gauge("sent", first, a_b="1"), gauge("sent", second, a_b="1")
    dotted.gauge.data_points[0].attributes[0].key = "a.b"
    list(accumulator.steps(client(), metrics(dotted, underscored), 0.0))
    (line,) = [line for line in page(taken(accumulator)).splitlines() if not line.startswith("#")]
    assert line.rpartition(" ")[2][:4].rstrip("0") == shown


def many_points(*, labels: tuple[str, ...] = DEFAULT_LABELS) -> Accumulator:
    """A counter of one client with 1,000 points."""
    accumulator = Accumulator(labels=labels, expiry=10.0)
    list(accumulator.steps(client(), metrics(*[total("t", 1.0, topic=str(each)) for each in range(1000)]), 0.0))
    return accumulator


def test_a_family_of_many_points_is_copied_in_steps() -> None:
    """256 points in one; in the end the snapshot that one step would take."""
    (family,) = many_points().families.values()
    *steps, taken = taking(family)
    assert steps == [None] * 3
    assert taken == snapshot(family)


def test_a_client_that_departs_while_a_family_is_copied() -> None:
    """Its counters are on the page once, though some were copied before it left."""
    accumulator = many_points(labels=("client_software_version",))
    list(accumulator.steps(client(2), metrics(total("t", 1.0, topic="0")), 9.0))
    (family,) = accumulator.families.values()
    copying = taking(family)
    assert next(copying) is None
    accumulator.expire(11.0)
    [taken] = [each for each in copying if each is not None]
    assert sum(isinstance(value, float) for _, value in taken.departed) == 1000
    assert page([taken]) == page([snapshot(family)])
