# This module is pure (no I/O, no clock).
"""The broker addresses in a response, and `replace_addresses`, which puts others in their place.

`kproxy.relay.apis.addresses` replaces the addresses in a whole response, `kproxy.wire.tail` those in a streamed one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from kproxy.wire.primitives import INT16, INT32, UINT16, Buffer, read_uvarint, uvarint

STRING_INT32: Final = 0
COMPACT_INT32: Final = 1
COMPACT_UINT16: Final = 2

BROKER: Final = 0
CONTROLLER: Final = 1


class Address(NamedTuple):
    """One node's address, and its position in the response.

    After an error it has Kafka's placeholders: FindCoordinator without a coordinator has node -1, host "", port -1.
    """

    node_id: int
    host: str
    port: int
    start: int
    """The position of the host's length prefix."""
    end: int
    """The position behind the port, which follows the host in all of Kafka's schemas."""
    layout: int
    """The encoding of host and port: STRING_INT32, COMPACT_INT32 or COMPACT_UINT16."""
    size_at: tuple[int, int] | None
    """The span of the size of the tagged field around the address, if there is one."""
    kind: int = BROKER
    """The kind of node: BROKER or CONTROLLER."""


def replace_addresses(
    buf: Buffer, pos: int, end: int, addresses: Sequence[Address], replacements: Sequence[tuple[str, int]]
) -> list[bytes | memoryview]:
    """Return the body from `pos` to `end` in chunks, with the (host, port) of `replacements` at `addresses`.

    Unchanged chunks are views of `buf`. Addresses must be in the order in which the skim found them. Raises ValueError
    for a host or port that the layout cannot hold.
    """
    view = memoryview(buf)
    chunks: list[bytes | memoryview] = []
    for start, stop, new in _edits(buf, addresses, replacements):
        chunks.append(view[pos:start])
        chunks.append(new)
        pos = stop
    chunks.append(view[pos:end])
    return chunks


def _edits(
    buf: Buffer, addresses: Sequence[Address], replacements: Sequence[tuple[str, int]]
) -> Iterator[tuple[int, int, bytes]]:
    """Yield (start, end, new bytes) by position: each address, preceded by the size around it when that changes."""
    written = [_written(address.layout, *new) for address, new in zip(addresses, replacements, strict=True)]
    growth: dict[tuple[int, int], int] = {}
    for address, new in zip(addresses, written, strict=True):
        if address.size_at:
            growth[address.size_at] = growth.get(address.size_at, 0) + len(new) - (address.end - address.start)
    for address, new in zip(addresses, written, strict=True):
        if address.size_at and (grown := growth.pop(address.size_at, 0)):
            size, _ = read_uvarint(buf, address.size_at[0])
            yield (*address.size_at, uvarint(size + grown))
        yield address.start, address.end, new


def _written(layout: int, host: str, port: int) -> bytes:
    raw = host.encode("utf-8")
    try:
        if layout == STRING_INT32:
            return INT16.pack(len(raw)) + raw + INT32.pack(port)
        form = UINT16 if layout == COMPACT_UINT16 else INT32
        return uvarint(len(raw) + 1) + raw + form.pack(port)
    except struct.error as error:
        raise ValueError(f"{host}:{port} cannot be written in place of a broker's address: {error}") from error
