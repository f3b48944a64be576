# This module is pure (no I/O, no clock).
"""Write clients' metrics in Prometheus' text format, from snapshots, so that a thread can do it.

At each scrape of /metrics/clients, the `prometheus` receiver takes snapshots and writes a page of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import accumulate, islice
from math import fsum, inf, isfinite, isnan
from operator import attrgetter
from types import MappingProxyType
from typing import Final, NamedTuple, cast

from kproxy.telemetry.receivers.labels import Kind
from kproxy.telemetry.receivers.otlp_points import Distribution, Value
from kproxy.telemetry.receivers.series import Family, Merge, Source, merge_of, together

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_POINTS: Final = 256
"""The points that are copied in one step: some 50 microseconds, if few clients have them."""
_ROWS: Final = 128
_LINES: Final = 32
"""The values that a step reads and the lines that it writes, where values are merged or are distributions."""
_CLIENTS: Final = 64
"""The lines that a step writes where each client has a line of its own."""
_NUMBERS: Final = frozenset({Kind.COUNTER, Kind.GAUGE})
_group: Final = attrgetter("group")


def _sum(values: list[float]) -> float:
    """Return the sum as closely as it can be: NaN of both infinities, and infinite where it is too large."""
    try:
        return fsum(values)
    except (ValueError, OverflowError):
        return sum(values)


_MERGES: Final[Mapping[Merge, Callable[[list[float]], float]]] = MappingProxyType(
    {
        Merge.SUM: _sum,
        Merge.MEAN: lambda values: _sum(values) / len(values),
        Merge.MAX: max,
        Merge.MIN: min,
    }
)


class Snapshot(NamedTuple):
    """A family at one moment: a value that moves from a client to the departed is neither missing nor counted twice."""

    family: Family
    departed: Sequence[tuple[str, Value]]
    """The labels and values of departed clients."""
    points: Sequence[tuple[str, Mapping[Source, Value]]]
    """The points' own labels, and the clients' values."""


def snapshot(family: Family) -> Snapshot:
    """Return the family as it is now. Takes 0.3 ms for 60,000 series of 30 points."""
    return Snapshot(family, _departed(family), [(point.text, point.values.copy()) for point in family.points.values()])


def taking(family: Family) -> Iterator[Snapshot | None]:
    """Yield None after each part of the family, and in the end a snapshot of it.

    Where a client departs meanwhile, its value is in the points and in `departed`, or in neither: then all is read
    again at once.
    """
    if len(family.points) <= _POINTS:
        yield snapshot(family)
        return
    departures = family.departures
    points: list[tuple[str, Mapping[Source, Value]]] = []
    for point in list(family.points.values()):
        points.append((point.text, point.values.copy()))
        if not len(points) % _POINTS:
            yield None
    taken = Snapshot(family, _departed(family), points)
    yield taken if family.departures == departures else snapshot(family)


def _departed(family: Family) -> list[tuple[str, Value]]:
    return [(group.labels + text, value) for (group, text), value in family.departed.items()]


def page(snapshots: Iterable[Snapshot]) -> str:
    """Return all `pieces` as one text."""
    return "".join(pieces(snapshots))


def pieces(snapshots: Iterable[Snapshot]) -> Iterator[str]:
    """Yield the families in the order of their names, each value with the labels of its clients and of its point.

    Families of one name, from several accumulators, become one; where their kinds differ the first one's is written.
    Each piece takes a tenth of a millisecond at most; an empty one is a step in between.
    """
    by_name: dict[str, list[Snapshot]] = {}
    for each in snapshots:
        alike = by_name.setdefault(each.family.name, [])
        if not alike or alike[0].family.kind is each.family.kind:
            alike.append(each)
    for _, taken in sorted(by_name.items()):
        family = taken[0].family
        help_text = family.help.replace("\\", r"\\").replace("\n", r"\n")
        yield f"# HELP {family.name} {help_text}\n# TYPE {family.name} {family.kind}\n"
        yield from _apart(taken[0]) if _all_differ(taken) else _by_labels(taken)


def _all_differ(taken: Sequence[Snapshot]) -> bool:
    """Return whether all values are numbers and no two have the same labels, as when clients are not merged."""
    (family, departed, points), *others = taken
    if others or departed or family.kind not in _NUMBERS or len({text for text, _ in points}) < len(points):
        return False
    return all(len(set(map(_group, values))) == len(values) for _, values in points)


def _apart(taken: Snapshot) -> Iterator[str]:
    for text, values in taken.points:
        rows = iter(cast("Mapping[Source, float]", values).items())
        while chunk := dict(islice(rows, _CLIENTS)):
            yield _clients(taken.family.name, text, chunk)


def _clients(name: str, text: str, values: Mapping[Source, float]) -> str:
    labels = [source.group.labels + text for source in values]
    numbers = map(repr if all(map(isfinite, values.values())) else _number, values.values())
    pairs = zip(labels, numbers, strict=True)
    # As `_braced` does, without a call for each of 60,000 lines.
    return "".join([f"{name}{{{each}}} {number}\n" if each else f"{name} {number}\n" for each, number in pairs])


def _by_labels(taken: Sequence[Snapshot]) -> Iterator[str]:
    rows: dict[str, list[Value]] = {}
    for number, (labels, value) in enumerate(_values(taken), 1):
        rows.setdefault(labels, []).append(value)
        if not number % _ROWS:
            yield ""
    lines = _lines(taken[0].family, rows)
    while piece := "".join(islice(lines, _LINES)):
        yield piece


def _lines(family: Family, rows: Mapping[str, list[Value]]) -> Iterator[str]:
    for labels, values in rows.items():
        value = values[0] if len(values) == 1 else _merged(family, values)
        if isinstance(value, Distribution):
            yield from _distribution(family, labels, value)
        else:
            yield f"{family.name}{_braced(labels)} {_number(value)}\n"


def _values(snapshots: Iterable[Snapshot]) -> Iterator[tuple[str, Value]]:
    for taken in snapshots:
        yield from taken.departed
        for text, values in taken.points:
            for source, value in values.items():
                yield source.group.labels + text, value


def _merged(family: Family, values: list[Value]) -> Value:
    if family.kind is Kind.GAUGE:
        numbers = [value for value in values if not isinstance(value, Distribution)]
        # A client's NaN does not hide the numbers of the others.
        known = [number for number in numbers if not isnan(number)]
        return _MERGES[merge_of(family.source_name)](known) if known else numbers[0]
    whole = reduce(together, values)
    return whole._replace(quantiles=()) if isinstance(whole, Distribution) else whole


def _distribution(family: Family, labels: str, value: Distribution) -> Iterator[str]:
    if family.kind is Kind.HISTOGRAM:
        bounds = [*value.bounds, inf]
        # A histogram without buckets has one bucket, up to infinity.
        for bound, count in zip(bounds, accumulate(value.buckets or (value.counted,)), strict=True):
            yield f'{family.name}_bucket{{{labels}le="{_number(bound)}"}} {_number(count)}\n'
    for quantile, at in value.quantiles:
        yield f'{family.name}{{{labels}quantile="{_number(quantile)}"}} {_number(at)}\n'
    yield f"{family.name}_sum{_braced(labels)} {_number(value.summed)}\n"
    yield f"{family.name}_count{_braced(labels)} {_number(value.counted)}\n"


def _braced(labels: str) -> str:
    return f"{{{labels}}}" if labels else ""


def _number(value: float) -> str:
    if isfinite(value):
        return repr(value)
    return "NaN" if isnan(value) else "+Inf" if value > 0 else "-Inf"
