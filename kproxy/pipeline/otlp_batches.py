"""OTLP payloads of many pushes, read together: an Arrow array of each push's points."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from kproxy.pipeline import published
from kproxy.pipeline.otlp_layout import Layout, NoLayoutError, layout
from kproxy.pipeline.otlp_messages import resources

POINT: Final = published.arrow_pushes().field("metrics").type.value_type
_NAMES: Final = [field.name for field in POINT]
_ATTRIBUTES: Final = POINT.field("attributes").type
_MAX_LAYOUTS: Final = 512
"""Layouts kept at once; each takes about twice its payload and its points."""
_FEW: Final = 2
"""So many pushes of one length are read message by message: a layout costs as much as five pushes."""
_RARE: Final = 16
"""After so many layouts that no other push shares, pushes of that length are read message by message."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """Some pushes of a batch, each with its points. A push with several resources is there several times."""

    pushes: NDArray[np.int64]
    """The pushes' places in the batch."""
    resources: pa.Array
    points: pa.ListArray


class Decoder:
    """Reads batches of payloads; it keeps the layouts of payloads that it saw."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._by_length: defaultdict[int, list[bytes]] = defaultdict(list)

    @property
    def layouts(self) -> int:
        """How many layouts it keeps."""
        return len(self._known)

    def decode(self, payloads: Sequence[bytes]) -> tuple[list[Decoded], dict[int, str]]:
        """Return the pushes that are OTLP, and by place why another one is not."""
        by_length: defaultdict[int, list[int]] = defaultdict(list)
        for place, payload in enumerate(payloads):
            by_length[len(payload)].append(place)
        decoded: list[Decoded] = []
        singly: list[int] = []
        for length, places in by_length.items():
            decoded.extend(self._alike(payloads, length, np.array(places), singly))
        rows, broken = _one_by_one(payloads, singly)
        return ([*decoded, rows] if rows else decoded), broken

    def _alike(
        self, payloads: Sequence[bytes], length: int, places: NDArray[np.int64], singly: list[int]
    ) -> Iterator[Decoded]:
        """Yield the pushes of one length that follow a layout; add the places of the others to `singly`."""
        stacked = np.frombuffer(b"".join([payloads[place] for place in places]), np.uint8).reshape(len(places), length)
        for known in list(self._by_length[length]):
            if not len(places):
                return
            fits = self._known[known].fits(stacked)
            if fits.any():
                self._known.move_to_end(known)
                yield self._known[known].read(places[fits], stacked[fits])
                places, stacked = places[~fits], stacked[~fits]
        rare = 0
        while len(places) > _FEW and rare < _RARE:
            payload = payloads[places[0]]
            try:
                learned = _Known.of(payload)
            except (NoLayoutError, DecodeError):
                singly.append(int(places[0]))
                places, stacked = places[1:], stacked[1:]
                continue
            fits = learned.fits(stacked)
            rare += int(np.count_nonzero(fits) <= _FEW)
            self._keep(payload, learned)
            yield learned.read(places[fits], stacked[fits])
            places, stacked = places[~fits], stacked[~fits]
        singly.extend(map(int, places))

    def _keep(self, payload: bytes, learned: _Known) -> None:
        self._known[payload] = learned
        self._by_length[len(payload)].append(payload)
        if len(self._known) > _MAX_LAYOUTS:
            oldest, _ = self._known.popitem(last=False)
            self._by_length[len(oldest)].remove(oldest)


@dataclass(frozen=True, slots=True)
class _Known:
    """A layout, with what all pushes of it have in common."""

    layout: Layout
    template: NDArray[np.uint8]
    resource: pa.Array
    points: pa.StructArray

    @classmethod
    def of(cls, payload: bytes) -> _Known:
        found = resources(payload)
        where = layout(payload)
        if len(found) != 1 or len(found[0][1]) != len(where.times):
            raise NoLayoutError
        ((resource, rows),) = found
        known = cls(
            where,
            np.frombuffer(payload, np.uint8),
            pa.array([list(resource.items())], _ATTRIBUTES),
            _points(rows),
        )
        read = known.read(np.zeros(1, np.int64), known.template.reshape(1, -1))
        if not read.points.flatten().equals(known.points):
            raise NoLayoutError
        return known

    def fits(self, payloads: NDArray[np.uint8]) -> NDArray[np.bool_]:
        differing: NDArray[np.uint8] = (payloads ^ self.template) & self.layout.fixed
        return np.logical_not(differing.any(axis=1))

    def read(self, places: NDArray[np.int64], payloads: NDArray[np.uint8]) -> Decoded:
        count, each = len(places), len(self.points)
        again = np.tile(np.arange(each), count)
        columns = dict(zip(_NAMES, self.points.take(pa.array(again)).flatten(), strict=True))
        columns["start_unix_nano"] = _numbers(payloads, self.layout.starts)
        columns["unix_nano"] = _numbers(payloads, self.layout.times)
        columns["value"] = self._values(payloads)
        points = pa.StructArray.from_arrays([columns[name] for name in _NAMES], fields=list(POINT))
        offsets = pa.array(np.arange(count + 1) * each, pa.int32())
        resource = self.resource.take(pa.array(np.zeros(count, np.int64)))
        return Decoded(places, resource, pa.ListArray.from_arrays(offsets, points))

    def _values(self, payloads: NDArray[np.uint8]) -> pa.Array:
        raw = _eight_bytes(payloads, self.layout.values)
        values = np.where(self.layout.integers, raw.view("<i8"), raw.view("<f8"))
        return pa.array(values.ravel(), mask=np.tile(self.layout.values < 0, len(payloads)))


def _eight_bytes(payloads: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[Any]:
    """The eight bytes at each offset of each payload, as an array (payloads, offsets)."""
    at = (np.maximum(offsets, 0)[:, None] + np.arange(8)).ravel()
    return np.take(payloads, at, axis=1).view("<u8")


def _numbers(payloads: NDArray[np.uint8], offsets: NDArray[np.int64]) -> pa.Array:
    """Times in nanoseconds; null for those that are missing, 0, or too large for Spark's long."""
    if not len(offsets):
        return pa.array([], pa.int64())
    numbers = _eight_bytes(payloads, offsets).view("<i8")
    return pa.array(numbers.ravel(), mask=((numbers <= 0) | (offsets < 0)).ravel())


def _points(rows: Sequence[dict[str, Any]]) -> pa.StructArray:
    return pa.array(_arrow(rows), POINT)


def _arrow(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return points with their maps as Arrow takes them: as pairs."""
    return [row | {"attributes": list(row["attributes"].items())} for row in rows]


def _one_by_one(payloads: Sequence[bytes], places: Sequence[int]) -> tuple[Decoded | None, dict[int, str]]:
    pushes: list[int] = []
    attributes: list[list[tuple[str, str]]] = []
    points: list[list[dict[str, Any]]] = []
    broken: dict[int, str] = {}
    for place in places:
        try:
            found = resources(payloads[place])
        except (DecodeError, ValueError) as error:
            broken[place] = f"not OTLP: {error}"
            continue
        for resource, rows in found:
            pushes.append(place)
            attributes.append(list(resource.items()))
            points.append(_arrow(rows))
    if not pushes:
        return None, broken
    decoded = Decoded(np.array(pushes), pa.array(attributes, _ATTRIBUTES), pa.array(points, pa.list_(POINT)))
    return decoded, broken
