# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Finds the values of some configs in a DescribeConfigs response, without decoding it.

Runs for each response to a request that names resources with such configs, as its bytes arrive.

Version notes: v0 says whether a value is the default where later ones have its source; v1 adds synonyms (KIP-226), each
with a value of its own; v3 adds types and documentation (KIP-569); v4 is flexible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from kproxy.wire.apis import response_header_version
from kproxy.wire.arriving import ArrivingWalk, behind_string, count_at, number_at, text_at
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.primitives import INT16, Buffer, uvarint

_FIRST_SYNONYMS: Final = 1
_FIRST_TYPE: Final = 3
_FIRST_FLEXIBLE: Final = 4
_CORRELATION_ID: Final = 4
_THROTTLE_TIME: Final = 4
_ERROR_CODE: Final = 2
_SOURCE_AND_FLAGS: Final = 3
"""Bytes of a config's read-only flag, source and sensitive flag."""
_SOURCE: Final = 1
_TYPE: Final = 1
_HEADER, _COUNT, _RESULT, _CONFIG, _SYNONYM, _END_OF_CONFIG, _END_OF_RESULT = range(7)


class ConfigValue(NamedTuple):
    """The value of a config or of one of its synonyms."""

    result: int
    """The number of its result in the response."""
    resource_type: int
    resource_name: bytes
    config: bytes
    """The config's name."""
    name: bytes
    """The synonym's name; for the config's own value the same as `config`."""
    value: bytes
    start: int
    """The position of the value's length, counted from the correlation id."""
    end: int


class ConfigValues(ArrivingWalk):
    """The values that are neither null nor empty of all configs that are in `names` or end in one of `endings`."""

    __slots__ = (
        "_config",
        "_configs",
        "_endings",
        "_flexible",
        "_names",
        "_resource_name",
        "_resource_type",
        "_result",
        "_results",
        "_state",
        "_synonyms",
        "_version",
        "found",
    )

    def __init__(self, version: int, names: frozenset[bytes], endings: tuple[bytes, ...]) -> None:
        super().__init__()
        self._version = version
        self._flexible = version >= _FIRST_FLEXIBLE
        self._names = names
        self._endings = endings
        self._state = _HEADER
        self._results = 0
        self._configs = 0
        self._synonyms = 0
        self._result = -1
        self._resource_type = 0
        self._resource_name = b""
        self._config = b""
        self.found: list[ConfigValue] = []

    def _step(self, data: bytes, pos: int) -> int:
        state = self._state
        if state == _SYNONYM:
            return self._synonym(data, pos)
        if state == _CONFIG:
            return self._begin_config(data, pos)
        if state == _END_OF_CONFIG:
            return self._end_config(data, pos)
        if state == _RESULT:
            return self._begin_result(data, pos)
        if state == _END_OF_RESULT:
            self._tags, pos = number_at(data, pos)
            self._next_result()
            return pos
        return self._begin(data, pos)

    def _begin(self, data: bytes, pos: int) -> int:
        if self._state == _HEADER:
            pos += _CORRELATION_ID
            if response_header_version(ApiKey.DESCRIBE_CONFIGS, self._version):
                self._tags, pos = number_at(data, pos)
            self._state = _COUNT
            return pos
        self._results, pos = count_at(data, pos + _THROTTLE_TIME, self._flexible)
        self._results += 1
        self._next_result()
        return pos

    def _next_result(self) -> None:
        self._results -= 1
        self._result += 1
        self._over = self._results == 0
        self._state = _RESULT

    def _begin_result(self, data: bytes, pos: int) -> int:
        pos = behind_string(data, pos + _ERROR_CODE, self._flexible)
        resource_type = data[pos]
        name, pos = text_at(data, pos + 1, self._flexible)
        self._configs, pos = count_at(data, pos, self._flexible)
        self._resource_type, self._resource_name = resource_type, name
        self._next_config()
        return pos

    def _next_config(self) -> None:
        if self._configs:
            self._state = _CONFIG
        elif self._flexible:
            self._state = _END_OF_RESULT
        else:
            self._next_result()

    def _begin_config(self, data: bytes, pos: int) -> int:
        name, value_at = text_at(data, pos, self._flexible)
        value, behind = self._value(data, value_at, name)
        self._synonyms, pos = 0, behind + _SOURCE_AND_FLAGS
        if self._version >= _FIRST_SYNONYMS:
            self._synonyms, pos = count_at(data, pos, self._flexible)
        self._config = name
        self._note(name, value, value_at, behind)
        self._next_synonym()
        return pos

    def _synonym(self, data: bytes, pos: int) -> int:
        name, value_at = text_at(data, pos, self._flexible)
        value, behind = self._value(data, value_at, name)
        pos = behind + _SOURCE
        if self._flexible:
            self._tags, pos = number_at(data, pos)
        self._note(name, value, value_at, behind)
        self._synonyms -= 1
        self._next_synonym()
        return pos

    def _next_synonym(self) -> None:
        if self._synonyms:
            self._state = _SYNONYM
        elif self._version >= _FIRST_TYPE:
            self._state = _END_OF_CONFIG
        else:
            self._configs -= 1
            self._next_config()

    def _value(self, data: bytes, pos: int, name: bytes) -> tuple[bytes, int]:
        """Return the value at `pos`, b"" if it is not wanted, and the position behind it."""
        if self._wanted(name) or (self._state == _SYNONYM and self._wanted(self._config)):
            return text_at(data, pos, self._flexible)
        return b"", behind_string(data, pos, self._flexible)

    def _wanted(self, name: bytes) -> bool:
        return name in self._names or name.endswith(self._endings)

    def _note(self, name: bytes, value: bytes, start: int, end: int) -> None:
        if value:
            self.found.append(
                ConfigValue(
                    self._result,
                    self._resource_type,
                    self._resource_name,
                    self._config,
                    name,
                    value,
                    self._at + start,
                    self._at + end,
                )
            )

    def _end_config(self, data: bytes, pos: int) -> int:
        pos = behind_string(data, pos + _TYPE, self._flexible)
        if self._flexible:
            self._tags, pos = number_at(data, pos)
        self._configs -= 1
        self._next_config()
        return pos


def replaced(
    frame: Buffer, version: int, replacements: Sequence[tuple[ConfigValue, bytes]]
) -> list[bytes | memoryview]:
    """Return the frame, without its size, in chunks, with other values; in the order in which they were found."""
    view = memoryview(frame)
    chunks: list[bytes | memoryview] = []
    pos = 0
    for found, value in replacements:
        length = uvarint(len(value) + 1) if version >= _FIRST_FLEXIBLE else INT16.pack(len(value))
        chunks += (view[pos : found.start], length + value)
        pos = found.end
    chunks.append(view[pos:])
    return chunks
