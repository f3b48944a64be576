# This module is pure (no I/O, no clock).
"""A client metrics subscription: which metrics, how often, of which clients (KIP-714, config resource CLIENT_METRICS).

Subscriptions come from the configuration, the admin API and Kafka's tools (AlterConfigs). They are matched against a
client when it asks for its subscription (GetTelemetrySubscriptions).

Patterns are RE2's: matching takes time linear in the text, whatever the pattern. A regex that RE2 refuses, such as one
with look-around or back references, is invalid.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID

from kproxy.config.patterns import compiled
from kproxy.telemetry.errors import SubscriptionError
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.primitives import MAX_STRING, ZERO_UUID

RESERVED_IDS: Final = frozenset({ZERO_UUID, UUID(int=1)})
"""Kafka reserves these ids: no instance has them."""
MAX_TEXT: Final = 256
"""The characters that are kept of a client id, a software name, a software version or a principal."""


class ClientInfo(NamedTuple):
    """The client of a request, as the connection and the request header describe it."""

    client_instance_id: UUID
    client_id: str | None
    software_name: str | None
    software_version: str | None
    source_address: str
    source_port: int
    principal: str | None = None
    """As the broker authenticated it on this connection ("User:alice"); None where unknown."""

    def bounded(self) -> ClientInfo:
        """Return the client with long texts cut to `MAX_TEXT`: kproxy keeps thousands of clients.

        Matching sees the cut texts.
        """
        _, client_id, name, version, _, _, principal = self
        if (
            len(client_id or "") <= MAX_TEXT
            and len(name or "") <= MAX_TEXT
            and len(version or "") <= MAX_TEXT
            and len(principal or "") <= MAX_TEXT
        ):
            return self
        client_id, name, version, principal = (
            text and text[:MAX_TEXT] for text in (client_id, name, version, principal)
        )
        return self._replace(client_id=client_id, software_name=name, software_version=version, principal=principal)


def kafka_text(instance_id: UUID) -> str:
    """Return the id as Kafka's clients and tools print it: base64url without padding."""
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
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,10}")  # as Java parses it; int() accepts more


def _present(text: str | None) -> Texts:
    return () if text is None else (text,)


def attribute(info: ClientInfo, key: str) -> Texts:
    """Return the forms of a client's attribute; a pattern must match one.

    Empty if the client did not send the attribute.
    """
    return _ATTRIBUTES[key](info)


@dataclass(frozen=True, slots=True)
class Subscription:
    """One subscription; SubscriptionError if it is invalid.

    `metrics` are prefixes of metric names; `"*"` or an empty prefix means every metric, no prefix means none. All
    conditions of `match` must hold; an empty `match` matches every client. `keys` names the configs that were set; the
    others have their default.
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
        """Return the subscription of a CLIENT_METRICS resource's configs, validated as by Kafka's controller."""
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
        """Return all configs as Kafka writes them, including those at their default."""
        match = ",".join(f"{key}={pattern}" for key, pattern in self.match)
        return {METRICS: ",".join(self.metrics), INTERVAL_MS: str(self.interval_ms), MATCH: match}

    def configs(self) -> dict[str, str]:
        """Return the configs that were set; `from_configs` makes the same subscription of them."""
        return {key: value for key, value in self.values().items() if key in self.keys}

    def matches(self, info: ClientInfo) -> bool:
        """Return whether the client is to push these metrics."""
        return all(any(pattern.fullmatch(text) for text in attribute(info, key)) for key, pattern in self._patterns)


def as_list(value: str) -> Texts:
    """Split a config of Kafka's type LIST at commas. Blanks around elements do not count; a blank value has none."""
    return tuple(element.strip() for element in value.split(",")) if value.strip() else ()


def _interval(value: str) -> int:
    if not _INTEGER.fullmatch(value.strip()):
        raise SubscriptionError(ErrorCode.INVALID_CONFIG, f"{INTERVAL_MS}: {value!r} is not a whole number")
    return int(value)


def _split(entry: str) -> tuple[str, str]:
    """Split `key=pattern`. As in Kafka, a pattern with another `=` is refused."""
    key, equals, pattern = (part.strip() for part in entry.partition("="))
    if not equals or not pattern or "=" in pattern:
        raise SubscriptionError(ErrorCode.INVALID_CONFIG, f"{MATCH}: {entry!r} is not of the form key=pattern")
    return key, pattern


def _compiled(key: str, pattern: str) -> Any:
    if key not in _ATTRIBUTES:
        known = ", ".join(_ATTRIBUTES)
        raise SubscriptionError(ErrorCode.INVALID_CONFIG, f"{MATCH}: unknown key {key!r}, known are {known}")
    try:
        return compiled(pattern)
    except ValueError as error:
        raise SubscriptionError(
            ErrorCode.INVALID_CONFIG, f"{MATCH}: {key}={pattern!a} is no regex for RE2: {error}"
        ) from error
