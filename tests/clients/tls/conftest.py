"""An authority, and brokers that are reached by SASL_SSL, and by mTLS."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.authority import Authority
from tests.support.secured import Secured
from tests.support.tls_kafka import tls_kafka


@pytest.fixture(scope="package")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Of all certificates here."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="package")
def broker(authority: Authority) -> Iterator[Secured]:
    """Clients come to it by SASL_SSL."""
    with tls_kafka(authority, protocol="SASL_SSL") as made:
        yield made


@pytest.fixture(scope="package")
def strict(authority: Authority) -> Iterator[Secured]:
    """It wants a certificate of everybody (mTLS)."""
    with tls_kafka(authority, protocol="SSL", client_auth="required") as made:
        yield made
