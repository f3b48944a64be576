"""A healthy client beside every fault."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.healthy import Healthy
from tests.support.proxy import Proxy


@pytest.fixture
def healthy(proxy: Proxy) -> Iterator[Healthy]:
    """Yield a client on one connection during the whole test, which must notice nothing."""
    with Healthy(proxy.port()) as client:
        yield client
