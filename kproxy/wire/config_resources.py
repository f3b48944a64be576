# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Finds which types of config resources a request names, without decoding it.

Runs for each request that describes or alters configs, as its bytes arrive. Rooms (packages of kproxy such as
telemetry) read the result to decide whether the request, or its response, concerns them.

Version notes: DescribeConfigs is flexible from v4 on, AlterConfigs from v2, IncrementalAlterConfigs from v1. The three
have the same shape in all versions: resources, and in each of them keys or configs.
"""

from __future__ import annotations

from typing import Final

from kproxy.wire.apis import APIS
from kproxy.wire.arriving import ArrivingWalk, behind_string, count_at, number_at
from kproxy.wire.generated.api_keys import ApiKey

TOPIC: Final = 2
"""Kafka's numbers of the resource types, as are the next."""
BROKER: Final = 4
BROKER_LOGGER: Final = 8
CLIENT_METRICS: Final = 16
GROUP: Final = 32
_OTHER: Final = 60
"""Stands for all higher numbers: Kafka has none."""
_SHORT: Final = 0x80
_FIXED_HEADER: Final = 8
_HEADER, _HEADER_TAGS, _COUNT, _RESOURCE, _INNER, _END = range(6)


class NamedResources(ArrivingWalk):
    """The resource types of a DescribeConfigs, AlterConfigs or IncrementalAlterConfigs request."""

    __slots__ = ("_flexible", "_key", "_left", "_left_inner", "_state", "_types", "elements")

    def __init__(self, api_key: int, version: int) -> None:
        super().__init__()
        self._key = api_key
        self._flexible = version >= APIS[api_key].flexible_from
        self._state = _HEADER
        self._left = 0
        self._left_inner = 0
        self._types = 0
        self.elements = 0
        """How many resources, keys, configs and unknown tagged fields there are: the cost of decoding the request."""

    def names(self, resource_type: int) -> bool:
        """Return whether a resource of this type is among those that were walked."""
        return bool(self._types >> min(resource_type, _OTHER) & 1)

    def names_only(self, *resource_types: int) -> bool:
        """Return whether all resources that were walked are of these types."""
        types = self._types
        for resource_type in resource_types:
            types &= ~(1 << resource_type)
        return not types

    def _step(self, data: bytes, pos: int) -> int:
        state = self._state
        if state == _RESOURCE:
            behind = self._plain(data, pos)
            return behind if behind != pos else self._resource(data, pos)
        if state == _INNER:
            behind = self._plain_keys(data, pos)
            return behind if behind != pos else self._inner(data, pos)
        if state in {_END, _HEADER_TAGS}:
            return self._section(data, pos)
        if state == _HEADER:
            pos = behind_string(data, pos + _FIXED_HEADER, False)
            self._state = _HEADER_TAGS if self._flexible else _COUNT
            return pos
        self._left, pos = count_at(data, pos, self._flexible)
        self._next_resource()
        return pos

    def _next_resource(self) -> None:
        self._state = _RESOURCE
        self._over = self._left == 0

    def _plain(self, data: bytes, pos: int) -> int:
        """Take resources with a short name, without keys and tagged fields: nearly all are like that.

        Returns the position behind them. The last one is left to `_resource`.
        """
        if not self._flexible:
            return pos
        left, types, last = self._left, self._types, len(data) - 1
        while left > 1 and pos < last:
            size = data[pos + 1]
            keys = pos + 1 + size
            if size >= _SHORT or not size or keys >= last or data[keys] > 1 or data[keys + 1]:
                break
            kind = data[pos]
            types |= 1 << (kind if kind < _OTHER else _OTHER)
            pos = keys + 2
            left -= 1
        self.elements += self._left - left
        self._left, self._types = left, types
        return pos

    def _resource(self, data: bytes, pos: int) -> int:
        kind = data[pos]
        pos = behind_string(data, pos + 1, self._flexible)
        self._left_inner, pos = count_at(data, pos, self._flexible)
        self._types |= 1 << (kind if kind < _OTHER else _OTHER)
        self.elements += 1
        self._behind_inner()
        return pos

    def _inner(self, data: bytes, pos: int) -> int:
        """Take a key, or a config with its tagged fields."""
        pos = behind_string(data, pos, self._flexible)
        if self._key != ApiKey.DESCRIBE_CONFIGS:
            if self._key == ApiKey.INCREMENTAL_ALTER_CONFIGS:
                pos += 1
            pos = behind_string(data, pos, self._flexible)
            if self._flexible:
                self._tags, pos = number_at(data, pos)
                self.elements += self._tags
        self.elements += 1
        self._left_inner -= 1
        self._behind_inner()
        return pos

    def _plain_keys(self, data: bytes, pos: int) -> int:
        """Take short keys, up to the last one at most; return the position behind them."""
        if not self._flexible or self._key != ApiKey.DESCRIBE_CONFIGS:
            return pos
        left, size = self._left_inner, len(data)
        while left > 1 and pos < size and 0 < data[pos] < _SHORT:
            pos += data[pos]
            left -= 1
        self.elements += self._left_inner - left
        self._left_inner = left
        return pos

    def _behind_inner(self) -> None:
        if self._left_inner:
            self._state = _INNER
        elif self._flexible:
            self._state = _END
        else:
            self._left -= 1
            self._next_resource()

    def _section(self, data: bytes, pos: int) -> int:
        """Take the number of tagged fields at the end of the header or of a resource."""
        self._tags, pos = number_at(data, pos)
        self.elements += self._tags
        if self._state == _HEADER_TAGS:
            self._state = _COUNT
        else:
            self._left -= 1
            self._next_resource()
        return pos
