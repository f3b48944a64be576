# This module is pure.
"""A client metrics subscription: which metrics, how often, of which clients (KIP-714, config resource CLIENT_METRICS).

Patterns are RE2's: time is linear in the text that is matched, whatever the pattern. What RE2 refuses, look-around and
back references among it, is an invalid regex.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID

import re2

from kproxy.telemetry.errors import SubscriptionError
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.primitives import MAX_STRING, ZERO_UUID

RESERVED_IDS: Final = frozenset({ZERO_UUID, UUID(int=1)})
"""Kafka's own: no instance has them."""
MAX_TEXT: Final = 256
"""Characters of a client id, or of a software's name or version, that are kept: the wire allows 32,767."""


class ClientInfo(NamedTuple):
    """Who asks or pushes: what the connection and its request header tell."""

    client_instance_id: UUID
    client_id: str | None
    software_name: str | None
    software_version: str | None
    source_address: str
    source_port: int

    def bounded(self) -> ClientInfo:
        """The same, fit to be kept by the thousand: longer texts are cut, for matching too, so that it is stable."""
        _, client_id, name, version, _, _ = self
        if len(client_id or "") <= MAX_TEXT and len(name or "") <= MAX_TEXT and len(version or "") <= MAX_TEXT:
            return self
        client_id, name, version = (text and text[:MAX_TEXT] for text in (client_id, name, version))
        return self._replace(client_id=client_id, software_name=name, software_version=version)


def kafka_text(instance_id: UUID) -> str:
    """The id as Kafka's clients and tools print it: base64url without padding."""
    return urlsafe_b64encode(instance_id.bytes).decode("ascii").rstrip("=")


METRICS: Final = "metrics"
INTERVAL_MS: Final = "interval.ms"
MATCH: Final = "match"
KEYS: Final = (METRICS, INTERVAL_MS, MATCH)

ALL_METRICS: Final = "*"
DEFAULT_INTERVAL_MS: Final = 300_000
MIN_INTERVAL_MS: Final = 100
MAX_INTERVAL_MS: Final = 3_600_000

Texts = tuple[str, ...]

# An instance id is matched in either of its written forms: Kafka's base64url and the usual hexadecimal one.
_ATTRIBUTES: Final[Mapping[str, Callable[[ClientInfo], Texts]]] = {
    "client_instance_id": lambda info: (kafka_text(info.client_instance_id), str(info.client_instance_id)),
    "client_id": lambda info: _present(info.client_id),
    "client_software_name": lambda info: _present(info.software_name),
    "client_software_version": lambda info: _present(info.software_version),
    "client_source_address": lambda info: (info.source_address,),
    "client_source_port": lambda info: (str(info.source_port),),
}
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,10}")  # as Java reads one: int() takes more
_PATTERN_MEMORY: Final = 1 << 20  # bytes of RE2's automaton; it starts afresh when they are used up


def _present(text: str | None) -> Texts:
    return () if text is None else (text,)


def attribute(info: ClientInfo, key: str) -> Texts:
    """The texts of which one must match; empty when the client did not tell: then no pattern matches."""
    return _ATTRIBUTES[key](info)


@dataclass(frozen=True, slots=True)
class Subscription:
    """`metrics` are prefixes of names, `"*"` or an empty one is all; all of `match` must match, none is everyone.

    `keys` are those that were set: the others have their default. SubscriptionError for what cannot be.
    """

    name: str
    metrics: Texts = ()
    interval_ms: int = DEFAULT_INTERVAL_MS
    match: tuple[tuple[str, str], ...] = ()
    keys: frozenset[str] = frozenset(KEYS)
    _patterns: tuple[tuple[str, Any], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.name:
            raise SubscriptionError(ErrorCode.INVALID_REQUEST, "a client metrics subscription needs a name")
        if not MIN_INTERVAL_MS <= self.interval_ms <= MAX_INTERVAL_MS:
            reason = f"{self.interval_ms} is not between {MIN_INTERVAL_MS} and {MAX_INTERVAL_MS} (1 hour)"
            raise SubscriptionError(ErrorCode.INVALID_REQUEST, f"{INTERVAL_MS}: {reason}")
        if long := [key for key, value in self.values().items() if len(value.encode("utf-8", "replace")) > MAX_STRING]:
            raise SubscriptionError(ErrorCode.INVALID_REQUEST, f"{long[0]}: longer than {MAX_STRING} bytes")
        patterns = tuple((key, _compiled(key, pattern)) for key, pattern in self.match)
        object.__setattr__(self, "_patterns", patterns)

    @classmethod
    def from_configs(cls, name: str, configs: Mapping[str, str]) -> Subscription:
        """The subscription that a CLIENT_METRICS resource's configs say, validated as Kafka's controller does."""
        if unknown := sorted(configs.keys() - set(KEYS)):
            known = ", ".join(KEYS)
            raise SubscriptionError(
                ErrorCode.INVALID_REQUEST, f"unknown client metrics config {unknown[0]!r}, known are {known}"
            )
        return cls(
            name,
            metrics=as_list(configs.get(METRICS, "")),
            interval_ms=_interval(configs.get(INTERVAL_MS, str(DEFAULT_INTERVAL_MS))),
            match=tuple(_split(entry) for entry in as_list(configs.get(MATCH, ""))),
            keys=frozenset(configs),
        )

    def values(self) -> dict[str, str]:
        """All configs as Kafka writes them, also those at their default."""
        match = ",".join(f"{key}={pattern}" for key, pattern in self.match)
        return {METRICS: ",".join(self.metrics), INTERVAL_MS: str(self.interval_ms), MATCH: match}

    def configs(self) -> dict[str, str]:
        """The configs that were set; `from_configs` makes the same subscription of them."""
        return {key: value for key, value in self.values().items() if key in self.keys}

    def matches(self, info: ClientInfo) -> bool:
        """Whether the client is meant."""
        return all(any(pattern.fullmatch(text) for text in attribute(info, key)) for key, pattern in self._patterns)


def as_list(value: str) -> Texts:
    """A config of Kafka's type LIST: separated by commas; blanks around elements do not count, none is no element."""
    return tuple(element.strip() for element in value.split(",")) if value.strip() else ()


def _interval(value: str) -> int:
    if not _INTEGER.fullmatch(value.strip()):
        raise SubscriptionError(ErrorCode.INVALID_CONFIG, f"{INTERVAL_MS}: {value!r} is not a whole number")
    return int(value)


def _split(entry: str) -> tuple[str, str]:
    """`key=pattern`; as in Kafka, a pattern that holds another `=` is refused."""
    key, equals, pattern = (part.strip() for part in entry.partition("="))
    if not equals or not pattern or "=" in pattern:
        raise SubscriptionError(ErrorCode.INVALID_CONFIG, f"{MATCH}: {entry!r} is not of the form key=pattern")
    return key, pattern


def _compiled(key: str, pattern: str) -> Any:
    if key not in _ATTRIBUTES:
        known = ", ".join(_ATTRIBUTES)
        raise SubscriptionError(ErrorCode.INVALID_CONFIG, f"{MATCH}: unknown key {key!r}, known are {known}")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _PATTERN_MEMORY
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0].decode("utf-8", "replace") if isinstance(error, re2.error) else error
        raise SubscriptionError(
            ErrorCode.INVALID_CONFIG, f"{MATCH}: {key}={pattern!a} is no regex for RE2: {reason}"
        ) from error
