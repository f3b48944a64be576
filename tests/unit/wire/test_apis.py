"""kproxy.wire.apis: the table of APIs and the versions of headers."""

from __future__ import annotations

import pytest

from kproxy.errors import UnsupportedApiError
from kproxy.wire.apis import APIS, ApiSpec, request_header_version, response_header_version


def test_known_rows() -> None:
    """Rows are as in the schemas: without unstable versions, and with 32767 when no version is flexible."""
    assert APIS[3] == ApiSpec(3, "Metadata", 0, 13, 9, True)
    assert APIS[22].max_version == 5
    assert APIS[17].flexible_from == 32767
    assert not APIS[52].broker


@pytest.mark.parametrize("key", [4, 5, 6, 7])
def test_retired_apis_are_not_listed(key: int) -> None:
    """APIs that brokers used among themselves before KRaft are not listed."""
    assert key not in APIS


@pytest.mark.parametrize(
    ("key", "version", "request_header", "response_header"),
    [(3, 8, 1, 0), (3, 9, 2, 1), (18, 2, 1, 0), (18, 3, 2, 0), (18, 99, 2, 0), (17, 1, 1, 0)],
)
def test_header_versions(key: int, version: int, request_header: int, response_header: int) -> None:
    """ApiVersions responses always have header 0 (KIP-511); its requests have header 2 above the newest version too."""
    assert request_header_version(key, version) == request_header
    assert response_header_version(key, version) == response_header


def test_unknown_key() -> None:
    """An unknown key has no header version."""
    with pytest.raises(UnsupportedApiError, match="999"):
        request_header_version(999, 0)
