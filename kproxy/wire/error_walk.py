# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Find all error codes of a response without decoding it, and what each is about.

A route (one API in one version) looks up its `ErrorWalk` when it is made; the relay has it look at each response that
is all there.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from kproxy.errors import MalformedMessageError
from kproxy.wire.apis import APIS, response_header_version
from kproxy.wire.arriving import text_at
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_walks import ERROR_WALKS
from kproxy.wire.primitives import Buffer, int16_at
from kproxy.wire.skim import error_offset
from kproxy.wire.walk import ErrorFunction, Found, skip_tags

_CORRELATION_ID: Final = 4
_RAISED: Final = (int(ApiKey.METADATA), 13)
"""kproxy serves it in front of brokers that answer it in the version below (KIP-1102)."""
_BELOW_RAISED: Final = (int(ApiKey.METADATA), 12)
_NOTHING: Final[Sequence[Found]] = ()


class ErrorWalk:
    """Looks at the responses of one API and version."""

    __slots__ = ("_errors", "_flexible", "_headed", "_older", "_walk", "walks")

    def __init__(
        self, walk: ErrorFunction, *, walks: bool, flexible: bool, headed: bool, older: ErrorFunction | None = None
    ) -> None:
        """`older` is the walk over the version in which an older broker answers."""
        self._walk = walk
        self._older = older
        self.walks = walks
        """False where the only code is at a fixed place, which may be read without it."""
        self._flexible = flexible
        self._headed = headed  # True where the response's header has a section of tagged fields
        self._errors: list[Found] = []  # empty between two looks

    def look(self, buf: Buffer, pos: int, end: int) -> Sequence[Found]:
        """Return the codes other than 0 of a whole response, whose header begins at `pos`.

        A malformed one, which passes as it is, has none.
        """
        errors = self._errors
        reached = self._reached(self._walk, buf, pos, end)
        if reached > end and self._older is not None:
            errors.clear()
            reached = self._reached(self._older, buf, pos, end)
        if not errors:
            return _NOTHING
        self._errors = []
        return errors if reached <= end else _NOTHING

    def _reached(self, walk: ErrorFunction, buf: Buffer, pos: int, end: int) -> int:
        try:
            body = skip_tags(buf, pos + _CORRELATION_ID, end) if self._headed else pos + _CORRELATION_ID
            return walk(buf, body, end, self._errors)
        except (IndexError, struct.error, MalformedMessageError):
            return end + 1

    def name(self, buf: Buffer, pos: int, end: int) -> str | None:
        """Return the name that a code was found with; None where there is none."""
        if not pos:
            return None
        found, _ = text_at(bytes(buf[pos:end]), 0, self._flexible)
        return str(found, "utf-8", "replace") if found else None


def error_walk(api_key: int, version: int) -> ErrorWalk | None:
    """Return the walk over a response; None where it has no error code, or its version is unknown."""
    walk = ERROR_WALKS.get((api_key, version))
    offset = error_offset(api_key, version)
    if walk is None and offset is None:
        return None
    return ErrorWalk(
        walk or _at(offset or 0),
        walks=walk is not None,
        flexible=version >= APIS[api_key].flexible_from,
        headed=response_header_version(api_key, version) == 1,
        older=ERROR_WALKS[_BELOW_RAISED] if (api_key, version) == _RAISED else None,
    )


def _at(offset: int) -> ErrorFunction:
    """Return the walk over a response whose only code is at a fixed place."""

    def look(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
        (code,) = int16_at(buf, pos + offset)
        if code:
            errors.append((code, 0, 0))
        return pos + offset + 2

    return look
