"""A broker that lets in nobody whom it does not know, and kproxy in front of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.sasl.shown import check_secrets
from tests.support.proxy import Proxy
from tests.support.secured import Secured, secured


@pytest.fixture(scope="package")
def broker() -> Iterator[Secured]:
    """One node of Apache Kafka 4.3.1."""
    with secured() as found:
        yield found


@pytest.fixture(scope="package")
def proxy(broker: Secured, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """It says all that it can say, in front of both listeners; at its end no secret stands in its log."""
    servers = {"secured": broker.bootstrap, "open": broker.plain}
    log = {"format": "json", "level": "debug"}
    with Proxy(tmp_path_factory.mktemp("sasl"), servers, log=log, topology={"interval": "1s"}) as found:
        yield found
    check_secrets(found.log.read_text())
