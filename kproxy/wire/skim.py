# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Find broker addresses, error codes and `acks` in messages without decoding them.

A skim is a walk over a response that finds its addresses. A route (one API in one version) looks up its skim when it
is made; the skim runs for each response, unless a `Glance` rules it out. The relay calls `acks` for each Produce
request.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final, TypeAlias

from kproxy.errors import MalformedMessageError, UnsupportedApiError
from kproxy.wire.address import (
    BROKER,
    COMPACT_INT32,
    COMPACT_UINT16,
    CONTROLLER,
    STRING_INT32,
    Address,
    replace_addresses,
)
from kproxy.wire.apis import APIS, response_header_version
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.skims import ERROR_OFFSETS, IN_BYTES, SKIMS, THROTTLE_FIRST
from kproxy.wire.primitives import MAX_STRING, Buffer, read_uvarint
from kproxy.wire.stream import RecordsWalk, ResponseStream, request_stream, response_stream
from kproxy.wire.walk import BytesWalk, WalkFunction, no_length, not_at_end, skip_tags

__all__ = [
    "ACKS_BITS",
    "BROKER",
    "COMPACT_INT32",
    "COMPACT_UINT16",
    "CONTROLLER",
    "IN_TRANSACTION",
    "MOST_ACKS",
    "STRING_INT32",
    "Address",
    "Glance",
    "RecordsWalk",
    "ResponseStream",
    "Skim",
    "Skimmed",
    "acks",
    "begins_with_throttle_time",
    "error_offset",
    "is_transactional",
    "replace_addresses",
    "request_stream",
    "response_glance",
    "response_skim",
    "response_stream",
]

_REQUEST_HEADER: Final = struct.Struct(">2xh4xh")
"""The api version and the client id's length in a request header."""
_INT16: Final = struct.Struct(">h")
_UNKNOWN_END: Final = 1 << 62
_PRODUCE_FLEXIBLE: Final = APIS[ApiKey.PRODUCE].flexible_from
_PRODUCE_TRANSACTIONAL: Final = 3
"""The first version of Produce with a transactional id, and the first that Kafka 4 knows."""
_USUAL: Final = 14
"""The least number of bytes up to the end of `acks`."""
_MOST_USUAL: Final = _USUAL + 0xFF
MOST_ACKS: Final = 0x7FFF
ACKS_BITS: Final = 0xFFFF
"""Of what `acks` returns: 0 in these for acks=0."""
IN_TRANSACTION: Final = ACKS_BITS + 1
"""What `acks` adds where there is a transactional id: the result is above `MOST_ACKS` then, and never otherwise."""


class Skimmed:
    """What a skim found: the addresses by position, and the non-zero error codes on the way to them.

    `end` is the position that it reached: for most responses the one behind the last field that holds addresses.
    """

    __slots__ = ("addresses", "end", "errors")

    def __init__(self) -> None:
        self.end = 0
        self.addresses: list[Address] = []
        self.errors: list[int] = []


Skim: TypeAlias = Callable[[Buffer, int, int], Skimmed]
"""(buf, pos, end): `pos` is the first byte of the response's body, behind its header."""


def response_skim(api_key: int, version: int) -> Skim | None:
    """Return the skim of a response; None when it has no broker address.

    Raises UnsupportedApiError for an unknown version of an API with addresses in its responses: it might leak one.
    """
    skim = _SKIMS.get((api_key, version))
    if skim is None and api_key in _CARRIERS:
        spec = APIS[api_key]
        if not spec.min_version <= version <= spec.max_version:
            raise UnsupportedApiError(f"{spec.name} v{version} is not known, so its addresses cannot be found")
    return skim


class Glance:
    """Checks quickly whether a response of one API and version needs a skim; hardly any does."""

    __slots__ = ("_addresses", "_errors", "_flexible", "_in_bytes", "_walk")

    def __init__(self, walk: WalkFunction, in_bytes: BytesWalk | None, *, flexible: bool) -> None:
        self._walk = walk
        self._in_bytes = in_bytes
        self._flexible = flexible
        self._addresses: list[Address] = []  # empty between two glances, as is _errors
        self._errors: list[int] = []

    def nothing(self, buf: Buffer, pos: int, end: int) -> bool:
        """Return True when the frame is well-formed and has neither an address nor an error code.

        Its header begins at `pos`.
        """
        body = pos + 4
        if self._flexible:
            if end <= body or buf[body]:  # it has tagged fields, which no broker sends there
                return False
            body += 1
        in_bytes = self._in_bytes
        try:
            if in_bytes is not None and isinstance(buf, bytes):
                found = in_bytes(buf, body, end, self._addresses, self._errors) > end
            else:
                found = self._walk(buf, body, end, self._addresses, self._errors) > end
        except (IndexError, struct.error, UnicodeDecodeError, MalformedMessageError):
            found = True
        if found or self._addresses or self._errors:
            self._addresses.clear()
            self._errors.clear()
            return False
        return True


def response_glance(api_key: int, version: int) -> Glance | None:
    """Return the glance for a response; None when it has no broker address, or its version is unknown."""
    where = (api_key, version)
    walk = SKIMS.get(where)
    if walk is None:
        return None
    return Glance(walk, IN_BYTES.get(where), flexible=response_header_version(api_key, version) == 1)


def error_offset(api_key: int, version: int) -> int | None:
    """Return the offset of the top-level error code in the body; None when there is none at a fixed place."""
    for first, last, offset in ERROR_OFFSETS.get(api_key, ()):
        if first <= version <= last:
            return offset
    return None


def begins_with_throttle_time(api_key: int, version: int) -> bool:
    """Return True when the body of a response begins with `throttle_time_ms`."""
    first = THROTTLE_FIRST.get(api_key)
    return first is not None and version >= first


def acks(buf: Buffer, pos: int, end: int) -> int | None:
    """Return `acks` of a Produce request with its header at `pos`; None when more bytes are needed.

    Those of a request with a transactional id have `IN_TRANSACTION` added, so that nobody looks for it once more.
    """
    if isinstance(buf, bytes):
        head, at, stop = buf, pos, end
    else:
        head, at = bytes(buf[pos : min(end, pos + _MOST_USUAL)]), 0
        stop = len(head)
    # The usual shape: a short client id, no tagged fields, no transactional id.
    if stop - at > _USUAL and head[at + 3] >= _PRODUCE_FLEXIBLE and not head[at + 8]:
        at += 10 + head[at + 9]
        if at + 4 <= stop and not head[at] and not head[at + 1]:
            wanted = head[at + 2] << 8 | head[at + 3]
            return wanted - 0x10000 if wanted & 0x8000 else wanted
    try:
        return _acks(memoryview(buf)[pos:end])
    except (IndexError, struct.error):
        return None


def is_transactional(buf: Buffer, pos: int, end: int) -> bool:
    """Return True when a Produce request has a transactional id; it must be complete from `pos` up to `acks`."""
    if isinstance(buf, bytes) and end - pos > _USUAL and buf[pos + 3] >= _PRODUCE_FLEXIBLE and not buf[pos + 8]:
        at = pos + 10 + buf[pos + 9]
        if at + 4 <= end and not buf[at] and not buf[at + 1]:  # as in `acks`
            return False
    return _transaction(memoryview(buf)[pos:end])[0]


def _acks(view: memoryview) -> int:
    transactional, pos = _transaction(view)
    value: int = _INT16.unpack_from(view, pos)[0]
    return value + IN_TRANSACTION if transactional else value


def _transaction(view: memoryview) -> tuple[bool, int]:
    """Return whether there is a transactional id, and the position behind it."""
    version, length = _REQUEST_HEADER.unpack_from(view)
    pos = _REQUEST_HEADER.size + _text(length)
    if version < _PRODUCE_TRANSACTIONAL:
        return False, pos
    if version < APIS[ApiKey.PRODUCE].flexible_from:
        (length,) = _INT16.unpack_from(view, pos)
        pos += _INT16.size + _text(length)
    else:
        pos = skip_tags(view, pos, _UNKNOWN_END)
        length, pos = read_uvarint(view, pos)
        length -= 1
        pos += _text(length)
    return length >= 0, pos


def _text(length: int) -> int:
    """Return the number of bytes of a nullable string behind its length."""
    if length < -1 or length > MAX_STRING:
        raise no_length(length)
    return max(length, 0)


def _guarded(walk: WalkFunction) -> Skim:
    def skim(buf: Buffer, pos: int, end: int) -> Skimmed:
        found = Skimmed()
        try:
            reached = walk(buf, pos, end, found.addresses, found.errors)
        except (IndexError, struct.error, UnicodeDecodeError) as error:
            raise MalformedMessageError(f"response: {error}") from error
        if reached > end:
            raise not_at_end()
        found.end = reached
        return found

    return skim


_SKIMS: Final = {where: _guarded(walk) for where, walk in SKIMS.items()}
_CARRIERS: Final = frozenset(key for key, _ in SKIMS)
