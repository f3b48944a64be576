# This module is pure (no I/O, no clock).
"""Reads of single fields in messages that are not decoded; callers put them inside `well_formed`.

The policies of kproxy.relay, kproxy.rebootstrap and kproxy.producers call them for each message that they read in part.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager

from kproxy.errors import MalformedMessageError
from kproxy.wire.primitives import Buffer
from kproxy.wire.walk import not_at_end, uvarint_at


@contextmanager
def well_formed(what: str) -> Iterator[None]:
    """Raise `MalformedMessageError` where a read inside finds missing bytes or no text; `what` names the message."""
    try:
        yield
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise MalformedMessageError(f"{what}: {error}") from error


def compact_string(buf: Buffer, pos: int) -> tuple[str | None, int]:
    """Return the nullable compact string at `pos`, and the position behind it."""
    size, pos = uvarint_at(buf, pos)
    return text(buf, pos, size - 1)


def text(buf: Buffer, pos: int, length: int) -> tuple[str | None, int]:
    """Return `length` bytes of text, None for a negative length, and the position behind them."""
    if length < 0:
        return None, pos
    if pos + length > len(buf):
        raise not_at_end()
    return str(buf[pos : pos + length], "utf-8"), pos + length


def behind(buf: Buffer, pos: int) -> int:
    """Return the position behind the nullable compact string at `pos`."""
    size, pos = uvarint_at(buf, pos)
    return pos + max(size - 1, 0)
