"""OTLP payloads of many pushes, read together: an Arrow array of each push's points."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from kproxy.pipeline.ingest import published
from kproxy.pipeline.ingest.otlp_layout import Layout, NoLayoutError, layout
from kproxy.pipeline.ingest.otlp_messages import attributes, read, resources

POINT: Final = published.arrow_pushes().field("metrics").type.value_type
_NAMES: Final = [field.name for field in POINT]
_ATTRIBUTES: Final = POINT.field("attributes").type
_MAX_LAYOUTS: Final = 1024
"""Layouts kept at once; each takes about ten times its payload."""
_MAX_TEXTS: Final = 4096
"""So many different attributes of a layout's pushes are kept, before all are forgotten."""
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
        """Return the pushes that are OTLP, and by place why another one is not, or what of it was not read."""
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
                yield from self._known[known].read(places[fits], stacked[fits], singly)
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
            yield from learned.read(places[fits], stacked[fits], singly)
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
    points: pa.StructArray
    """Of one push; its numbers and attributes are not those of the others."""
    resources: _Texts
    labels: _Texts

    @classmethod
    def of(cls, payload: bytes) -> _Known:
        found = resources(payload)
        where = layout(payload)
        if len(found) != 1 or len(found[0][1]) != len(where.times):
            raise NoLayoutError
        points = _points(found[0][1])
        known = cls(where, np.frombuffer(payload, np.uint8), points, _Texts(_resource_of), _Texts(_labels_of))
        (read,) = known.read(np.zeros(1, np.int64), known.template.reshape(1, -1), [])
        if not read.points.flatten().equals(points):
            raise NoLayoutError
        return known

    def fits(self, payloads: NDArray[np.uint8]) -> NDArray[np.bool_]:
        differing: NDArray[np.uint8] = (payloads ^ self.template) & self.layout.fixed
        fitting = np.logical_not(differing.any(axis=1))
        if len(self.layout.again):
            first = np.take(payloads, self.layout.resource, axis=1)
            for offsets in self.layout.again:
                fitting &= (np.take(payloads, offsets, axis=1) == first).all(axis=1)
        return fitting

    def read(self, places: NDArray[np.int64], payloads: NDArray[np.uint8], singly: list[int]) -> Iterator[Decoded]:
        """Yield pushes that fit; those whose attributes cannot be decoded are added to `singly`."""
        resource_of = self.resources.known(np.take(payloads, self.layout.resource, axis=1), payloads)
        labels_of = self.labels.known(np.take(payloads, self.layout.labels, axis=1), payloads)
        good = (resource_of >= 0) & (labels_of >= 0)
        if not good.all():
            singly.extend(map(int, places[~good]))
            places, payloads = places[good], payloads[good]
            resource_of, labels_of = resource_of[good], labels_of[good]
        if len(places):
            points = self._points(payloads, labels_of)
            offsets = pa.array(np.arange(len(places) + 1) * len(self.points), pa.int32())
            yield Decoded(places, self.resources.taken(resource_of, 1), pa.ListArray.from_arrays(offsets, points))

    def _points(self, payloads: NDArray[np.uint8], labels_of: NDArray[np.int64]) -> pa.StructArray:
        count, each = len(payloads), len(self.points)
        again = pa.array(np.tile(np.arange(each, dtype=np.int32), count))
        made = {
            "start_unix_nano": _numbers(payloads, self.layout.starts),
            "unix_nano": _numbers(payloads, self.layout.times),
            "value": self._values(payloads),
            "attributes": self.labels.taken(labels_of, each),
        }
        for name, column in zip(_NAMES, self.points.flatten(), strict=True):
            if name not in made:
                same = column.null_count == each
                made[name] = pa.nulls(count * each, column.type) if same else column.take(again)
        return pa.StructArray.from_arrays([made[name] for name in _NAMES], fields=list(POINT))

    def _values(self, payloads: NDArray[np.uint8]) -> pa.Array:
        raw = _eight_bytes(payloads, self.layout.values)
        values = np.where(self.layout.integers, raw.view("<i8"), raw.view("<f8"))
        return pa.array(values.ravel(), mask=np.tile(self.layout.values < 0, len(payloads)))


class _Texts:
    """Attributes by their bytes: each is decoded once."""

    def __init__(self, decode: Callable[[bytes, bytes], list[dict[str, str]]]) -> None:
        """`decode` gets the bytes of the attributes, and a payload that has them."""
        self._decode = decode
        self._forget()

    def _forget(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._decoded: list[pa.Array] = []
        self._all: pa.Array | None = None

    def known(self, texts: NDArray[np.uint8], payloads: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return a number for the attributes of each payload, for `taken`; -1 for those that are not OTLP."""
        if len(self._numbers) > _MAX_TEXTS:
            self._forget()
        width, whole = texts.shape[1], texts.tobytes()
        keys = [whole[at : at + width] for at in range(0, width * len(texts), width)] if width else [b""] * len(texts)
        numbers = self._numbers
        for place, key in enumerate(keys):
            if key not in numbers:
                numbers[key] = self._new(key, payloads[place].tobytes())
        return np.array([numbers[key] for key in keys], np.int64)

    def _new(self, text: bytes, payload: bytes) -> int:
        try:
            decoded = self._decode(text, payload)
        except DecodeError:
            return -1
        self._decoded.append(pa.array([list(each.items()) for each in decoded], _ATTRIBUTES))
        self._all = None
        return len(self._decoded) - 1

    def taken(self, numbers: NDArray[np.int64], each: int) -> pa.Array:
        """Return the attributes of these numbers, `each` entries a number."""
        if self._all is None:
            self._all = pa.concat_arrays(self._decoded)
        return self._all.take(pa.array((numbers[:, None] * each + np.arange(each)).ravel()))


def _resource_of(text: bytes, _: bytes) -> list[dict[str, str]]:
    return [attributes(text)]


def _labels_of(_: bytes, payload: bytes) -> list[dict[str, str]]:
    (found,) = resources(payload)  # a layout has one resource
    return [row["attributes"] for row in found[1]]


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
    of_resources: list[list[tuple[str, str]]] = []
    points: list[list[dict[str, Any]]] = []
    broken: dict[int, str] = {}
    for place in places:
        try:
            found, unknown = read(payloads[place])
        except (DecodeError, ValueError) as error:
            broken[place] = f"not OTLP: {error}"
            continue
        if unknown:
            broken[place] = f"metrics of a kind that this pipeline does not know, update it: {', '.join(unknown)}"
        for resource, rows in found:
            pushes.append(place)
            of_resources.append(list(resource.items()))
            points.append(_arrow(rows))
    if not pushes:
        return None, broken
    decoded = Decoded(np.array(pushes), pa.array(of_resources, _ATTRIBUTES), pa.array(points, pa.list_(POINT)))
    return decoded, broken
