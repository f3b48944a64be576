# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Find the numbers in the payload of a push, so that the next payload like it need not be decoded.

`Telemetry.push` asks `LastPayload.match` at each push; a payload that does not match is decoded, and then `learn` notes
it.

Java and librdkafka push the same metrics in the same order again and again. Protobuf writes times and values of data
points at a fixed width, so such a payload differs from the previous one in these bytes only. All other bytes are the
payload's template: they decide what it says, and whether it is valid. Templates are compared by a hash that Python keys
anew in each process. A client that managed to send two templates of the same hash would only harm itself: its own
numbers would be misread, or its invalid bytes passed to the receivers.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from struct import Struct
from typing import Final, NamedTuple

from kproxy.errors import MalformedMessageError
from kproxy.wire.primitives import read_uvarint

_WIDTH: Final = 8
_VARINT, _FIXED64, _BYTES = 0, 1, 2
_MORE: Final = 0x80

_Fields = Mapping[int, "_Fields | str"]
_TIME: Final = "8x"
_POINT: Final[_Fields] = {2: _TIME, 3: _TIME, 4: "d", 6: "q"}  # start, time, as_double, as_int
_METRIC: Final[_Fields] = {5: {1: _POINT}, 7: {1: _POINT}}  # gauge, sum
_METRICS_DATA: Final[_Fields] = {1: {2: {2: _METRIC}}}  # resource_metrics, scope_metrics, metrics
KEPT_NUMBERS: Final = 200_000
"""The numbers of all layouts that are kept, at 100 bytes each. Clients of one kind share one, of some 30 numbers."""
_OVERHEAD: Final = 16
"""As many numbers as a layout without any costs."""
MAX_BYTES: Final = 32 << 10
"""The largest payload with a layout. Finding one is a walk in Python, 15 ms for a payload made to take long. Java's
clients push 25 KB when they are asked for everything."""


class Layout:
    """Positions in payloads of one length.

    Client instances share a layout if they push the same metrics, and their names are of the same length.
    """

    __slots__ = ("_numbers", "_template", "cost", "size")

    def __init__(self, template: str, numbers: str, cost: int = 0) -> None:
        """Both are formats of `struct`: `template` skips times and numbers, `numbers` skips all else."""
        self._template = Struct(template)
        self._numbers = Struct(numbers)
        self.size = self._template.size
        self.cost = cost

    @property
    def kept(self) -> bool:
        """Return whether it still has its positions; ask before `numbers`."""
        return self.size >= 0

    def forget(self) -> None:
        """Give back the memory of the positions, whoever holds the layout; no payload matches it any more."""
        self._template = self._numbers = _NOTHING
        self.size = -1

    def template_hash(self, payload: bytes) -> int | None:
        """Return a hash of all but times and numbers; None for a payload of another size."""
        return hash(self._template.unpack(payload)) if len(payload) == self.size else None

    def numbers(self, payload: bytes) -> tuple[float, ...]:
        """Return the values of all data points of gauges and sums, in their order."""
        return self._numbers.unpack(payload)


_NOTHING: Final = Struct("")


class Layouts:
    """The layouts in use, in bounded memory. The one that was learnt longest ago is forgotten first.

    Without a bound each client instance could have a layout of its own, of 300 KB.
    """

    def __init__(self, most: int = KEPT_NUMBERS) -> None:
        self.cost = 0
        self._most = most
        self._by_formats: OrderedDict[tuple[str, str], Layout] = OrderedDict()

    def shared(self, template: str, numbers: str, count: int) -> Layout:
        """Return the layout of these formats, of `count` numbers: one object for all clients that push alike."""
        found = self._by_formats.get((template, numbers))
        if found is None:
            found = self._by_formats[template, numbers] = Layout(template, numbers, _OVERHEAD + count)
            self.cost += found.cost
            while self.cost > self._most:
                forgotten = self._by_formats.popitem(last=False)[1]
                self.cost -= forgotten.cost
                forgotten.forget()
        else:
            self._by_formats.move_to_end((template, numbers))
        return found


LAYOUTS: Final = Layouts()


class PayloadTemplate(NamedTuple):
    """All of a payload but its times and numbers: what a client repeats from push to push.

    Of the payloads with equal templates either all are MetricsData, or none is.
    """

    layout: Layout
    hash: int


class LastPayload:
    """Size and template of the last payload of an instance, with which the next one is compared."""

    __slots__ = ("_size", "_template")

    def __init__(self) -> None:
        self._size = 0
        self._template: PayloadTemplate | None = None

    def match(self, payload: bytes) -> PayloadTemplate | None:
        """Return the last payload's template if this payload has it, too; None for one that must be decoded."""
        template = self._template
        return template if template is not None and template.layout.template_hash(payload) == template.hash else None

    def learn(self, payload: bytes) -> PayloadTemplate | None:
        """Note a decoded payload. Return its template if the last payload had the same size; else None.

        So no layout is searched for while sizes change: payloads of different sizes never have equal templates.
        """
        again, self._size = len(payload) == self._size, len(payload)
        self._template = template_of(payload) if again else None
        return self._template


def template_of(payload: bytes) -> PayloadTemplate | None:
    """Return the template of MetricsData; None for bytes without a layout."""
    found = layout(payload)
    hashed = None if found is None else found.template_hash(payload)
    return None if found is None or hashed is None else PayloadTemplate(found, hashed)


def layout(payload: bytes) -> Layout | None:
    """Return the layout of MetricsData; None for other bytes, large payloads, and encodings that no client writes."""
    if len(payload) > MAX_BYTES:
        return None
    found: list[tuple[int, str]] = []
    try:
        _find(payload, 0, len(payload), _METRICS_DATA, found)
    except (IndexError, MalformedMessageError):
        return None
    template, numbers, position = ["<"], ["<"], 0
    for start, code in found:
        template.append(f"{start - position}s{_TIME}")
        numbers.append(f"{start - position}x{code}")
        position = start + _WIDTH
    rest = len(payload) - position
    if rest < 0:
        return None
    return LAYOUTS.shared("".join([*template, f"{rest}s"]), "".join([*numbers, f"{rest}x"]), len(found))


def _find(payload: bytes, position: int, end: int, fields: _Fields, found: list[tuple[int, str]]) -> None:
    """Append each position with its code to `found`. Raise IndexError or MalformedMessageError for malformed bytes."""
    while position < end:
        tag = payload[position]
        kind, below = tag & 7, fields.get(tag >> 3)
        position += 1
        if kind == _BYTES and tag < _MORE:
            size, position = payload[position], position + 1
            if size >= _MORE:
                size, position = read_uvarint(payload, position - 1)
            if below is not None and not isinstance(below, str):
                _find(payload, position, position + size, below, found)
            position += size
        elif kind == _FIXED64 and tag < _MORE:
            if isinstance(below, str):
                found.append((position, below))
            position += _WIDTH
        elif kind == _VARINT and tag < _MORE:
            position = read_uvarint(payload, position)[1]
        else:
            raise MalformedMessageError(f"tag {tag:#x}, of which there is none in OTLP's metrics")
