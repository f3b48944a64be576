# This module is pure (no I/O, no clock).
"""Kafka's APIs: their versions, and the header versions of their requests and responses.

`APIS` is made once, at import. Each virtual cluster's routes are made from it, and headers look up their version in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from kproxy.errors import UnsupportedApiError
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.api_table import TABLE


class ApiSpec(NamedTuple):
    """One API. `max_version` is the newest stable version; `flexible_from` is 32767 when no version is flexible."""

    key: int
    name: str
    min_version: int
    max_version: int
    flexible_from: int
    broker: bool
    """True when brokers serve it to clients; False for an API that only controllers use among themselves."""
    newest_from: int = 0
    """The lowest version of the newest release. Those below, which Kafka 4 has removed (KIP-896), are from 3.9."""


APIS: Final[Mapping[int, ApiSpec]] = MappingProxyType({row[0]: ApiSpec(*row) for row in TABLE})


def request_header_version(key: int, version: int) -> int:
    """Return 1, or 2 (with tagged fields) for a flexible request, also for versions above the newest known.

    Raises UnsupportedApiError for an unknown key.
    """
    return 2 if version >= _spec(key).flexible_from else 1


def response_header_version(key: int, version: int) -> int:
    """Return 0, or 1 (with tagged fields) for a flexible response.

    ApiVersions has always 0: a client must be able to read it before it knows any version (KIP-511).
    """
    return 1 if version >= _spec(key).flexible_from and key != ApiKey.API_VERSIONS else 0


def _spec(key: int) -> ApiSpec:
    try:
        return APIS[key]
    except KeyError:
        raise UnsupportedApiError(f"api key {key} is not known") from None
