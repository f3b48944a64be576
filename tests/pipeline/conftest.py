"""One Spark for all tests: it takes seconds to start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from kproxy.pipeline import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Py4j leaves its sockets to the garbage collector, in whichever test that runs."""
    unclosed = "ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning"
    for item in items:
        if "tests/pipeline/" in item.nodeid:
            item.add_marker(pytest.mark.filterwarnings(unclosed))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Spark on two cores, with Delta and the connector for Kafka."""
    started = session.start("kproxy tests", "local[2]", [session.KAFKA])
    yield started
    started.stop()
