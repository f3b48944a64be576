"""Items to deliver: numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kproxy.wire.records import Record

AT_MS = 1_700_000_000_500


@dataclass(frozen=True, slots=True)
class Number:
    """An item; its payload is the number, or the number repeated."""

    number: int
    times: int = 1

    @property
    def payload(self) -> bytes:
        return b"%03d" % self.number * self.times


def lines(item: Number) -> Iterator[bytes | None]:
    """Yield a None, then a line of JSON; ValueError for a negative number."""
    if item.number < 0:
        raise ValueError(f"{item.number} is negative")
    yield None
    yield b'{"number":%d}\n' % item.number


def record(item: Number) -> Record:
    """Return a record with the number as its key."""
    return Record(b"%d" % item.number, item.payload, AT_MS, (("unit", b"one"),))
